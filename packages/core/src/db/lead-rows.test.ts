import { expect, test } from 'vitest';
import { openLeadStore } from '../../test/lead-store.ts';
import { leadBytes } from './lead-rows.ts';

const { testDatabase } = await openLeadStore();

/** Texts that have a short format. */
const short = new Set(['phone_e164', 'payout_currency']);

test('the bytes of a lead include every text that can be long', async () => {
  const columns = await testDatabase.query<{ name: string }>(`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_name = 'lead' AND table_schema = current_schema() AND data_type IN ('text', 'jsonb')`);
  const names = columns.map(({ name }) => name).filter((name) => !short.has(name));
  const counted = [...leadBytes.text.matchAll(/octet_length\((\w+)/g)].map(([, name]) => String(name));
  expect(counted.toSorted()).toEqual(names.toSorted());
});
