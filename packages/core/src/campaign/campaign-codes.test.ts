import { expect, test } from 'vitest';
import { CampaignCodes } from './campaign-codes.ts';
import type { Campaign, CampaignStatus } from './campaign-store.ts';

const workspaceId = '01900000-0000-7000-8000-000000000001';

function setUp() {
  const statuses = new Map<string, CampaignStatus>();
  let lookups = 0;
  const codes = new CampaignCodes({
    async findByCode(ofWorkspace, code) {
      lookups += 1;
      const status = statuses.get(code);
      return status && ({ id: code, workspaceId: ofWorkspace, code, status } as Campaign);
    },
  });
  const find = async (code: string, ofWorkspace = workspaceId) =>
    (await codes.findActive(ofWorkspace, code))?.id;
  return { codes, statuses, find, lookups: () => lookups };
}

test('an active campaign is looked up once, also by concurrent requests', async () => {
  const { statuses, find, lookups } = setUp();
  statuses.set('A', 'active');
  expect(await Promise.all([find('A'), find('A'), find('A')])).toEqual(['A', 'A', 'A']);
  expect(await find('A')).toBe('A');
  expect(lookups()).toBe(1);
});

test('an unknown, paused or archived campaign is not found, and is found as soon as it is active', async () => {
  const { statuses, find } = setUp();
  for (const status of ['paused', 'archived', undefined] as const) {
    if (status === undefined) statuses.delete('A');
    else statuses.set('A', status);
    expect([status, await find('A')]).toEqual([status, undefined]);
  }
  statuses.set('A', 'active');
  expect(await find('A')).toBe('A');
});

test('a change of the routes of a workspace removes its cached campaigns, and no others', async () => {
  const { codes, statuses, find, lookups } = setUp();
  const other = '01900000-0000-7000-8000-000000000002';
  statuses.set('A', 'active');
  await Promise.all([find('A'), find('A', other)]);
  codes.invalidate({ kind: 'routes', workspaceId: other });
  statuses.set('A', 'paused');
  expect([await find('A'), await find('A', other)]).toEqual(['A', undefined]);
  codes.invalidate({ kind: 'api_key', id: workspaceId });
  expect(await find('A')).toBe('A');
  expect(lookups()).toBe(3);
});
