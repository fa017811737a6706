import { expect, test } from 'vitest';
import { newId } from '../uuid.ts';
import { fromIntakeLead } from './lead.ts';

test('an intake lead has the address of the visitor, and none if the client has disconnected', () => {
  const placement = { workspaceId: newId(), userId: newId(), campaignId: newId() };
  const addressOf = (ip: string) => fromIntakeLead({ name: 'Ada', phone: '1' }, placement, ip).lead.ip;
  expect([addressOf('192.0.2.1'), addressOf('')]).toEqual(['192.0.2.1', undefined]);
});
