import { createTestDatabase } from '@leads/test-kit/test-database';
import { expect, test } from 'vitest';
import { query } from '../src/stack/database.ts';
import { compareTotals } from '../src/payouts/totals.ts';

test('totals are equal to a recount from the histories after 300 random changes over 3 currencies, and a recount finds changes that are not counted', async () => {
  await using database = await createTestDatabase();
  const options = { connections: 2, seed: Date.now() % 1_000_000_000, onProgress: () => undefined };
  const { differences, changes, requests } = await compareTotals(database.url, { ...options, changes: 300 });
  expect(differences, `seed ${options.seed}`).toEqual([]);
  expect(changes).toBeGreaterThanOrEqual(300);
  expect(Object.keys(requests).length, JSON.stringify(requests)).toBeGreaterThan(8);

  await using uncounted = await createTestDatabase();
  await query(uncounted.url, 'ALTER TABLE lead DISABLE TRIGGER lead_tally_updated');
  const found = await compareTotals(uncounted.url, { ...options, changes: 300 });
  expect(found.differences.length, `seed ${options.seed}`).toBeGreaterThan(0);
});
