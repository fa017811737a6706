import { expect, test } from 'vitest';
import { addTenant, createTestDatabase, databaseOptions, leadOf } from '../../test/database.ts';
import { waitingForLocks } from '../../test/lead-store.ts';
import { newId } from '../uuid.ts';
import { openDatabase } from './client.ts';
import { markDuplicates } from './duplicates.ts';
import { createLeadStore } from './lead-store.prisma.ts';

/*
 * Checks that the search for duplicates reads at most one stored lead for each phone number, however many leads have it.
 * A batch of the intake has leads of all workspaces, so a slow search for one of them delays the others.
 */

const number = '+442079460958';
const windowSeconds = 3600;
/** The creation time of a lead, by its number. */
const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000);

async function start() {
  const database = await createTestDatabase();
  const tenant = await addTenant(database, 'large');
  const { workspaceId, userId, campaignId } = tenant;
  // All searches use one connection, which keeps the plan of Postgres.
  const opened = openDatabase({
    ...databaseOptions(database.url),
    poolSize: 1,
    connectTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
  });
  const first = newId();
  return {
    database,
    tenant,
    first,
    /** Adds leads that all have the digits of the number. All but the first are its duplicates. */
    add: (phoneE164: string | null, to: number, from = 1) =>
      database.query(
        `INSERT INTO lead (
          id, workspace_id, campaign_id, user_id, source, status, name, phone, phone_e164, duplicate_of, created_at, updated_at
        )
        SELECT CASE n WHEN 1 THEN $1::uuid ELSE gen_random_uuid() END, $2, $3, $4, 'intake', 'Trashed', 'Ada', $5, $6,
          CASE WHEN n > 1 THEN $1::uuid END, at, at
        FROM generate_series($7::int, $8::int) AS n
        CROSS JOIN LATERAL (SELECT $9::timestamptz + n * interval '1 second' AS at) AS times`,
        [first, workspaceId, campaignId, userId, number.slice(1), phoneE164, from, to, timeOf(0)],
      ),
    /** Returns the original of a new lead, and the number of stored leads that the search reads. */
    search: async (seconds: number, { phoneE164 = number, campaignId: id = campaignId } = {}) => {
      const lead = leadOf(tenant, { phoneE164, campaignId: id, createdAt: timeOf(seconds) });
      return opened.transaction(async (tx) => {
        const countReads = async () => {
          const [row] = await tx.$queryRaw<{ reads: number }[]>`
            SELECT (seq_tup_read + idx_tup_fetch)::int AS reads FROM pg_stat_xact_user_tables WHERE relname = 'lead'`;
          return row?.reads ?? Number.NaN;
        };
        const before = await countReads();
        const [marked] = await markDuplicates(tx, [{ ...lead, duplicateWindowSeconds: windowSeconds }]);
        return { original: marked?.duplicateOf, reads: (await countReads()) - before };
      });
    },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

test.each([500, 5_000])('the search for duplicates reads one of %i leads with the number', async (count) => {
  await using sut = await start();
  const { database, tenant, first, add, search } = sut;
  await add(number, count);
  // The statistics then say that every lead has the number that the search looks for.
  await database.query('ANALYZE lead');
  expect(await search(count)).toEqual({ original: first, reads: 1 });
  // The newest lead is not within the window.
  expect(await search(count + windowSeconds + 1)).toEqual({ original: undefined, reads: 1 });
  const none = { original: undefined, reads: 0 };
  expect(await search(count, { phoneE164: '+442079460959' })).toEqual(none);
  expect(await search(count, { campaignId: tenant.otherCampaignId })).toEqual(none);
});

test('the search for duplicates reads no lead whose number has the same digits, but could not be parsed', async () => {
  await using sut = await start();
  await sut.add(null, 500);
  await sut.database.query('ANALYZE lead');
  expect(await sut.search(500)).toEqual({ original: undefined, reads: 0 });
});

test('the search for duplicates reads one lead even if Postgres planned it for a table of one page', async () => {
  await using sut = await start();
  await sut.add(number, 1);
  await sut.database.query('ANALYZE lead');
  // Postgres keeps the plans of a function from its sixth run on.
  for (let run = 1; run <= 6; run++) await sut.search(1);
  await sut.add(number, 500, 2);
  expect(await sut.search(500)).toEqual({ original: sut.first, reads: 1 });
});

test('of two concurrent leads with a number, the second is a duplicate, whatever isolation the database has by default', async () => {
  await using sut = await start();
  const { database, tenant } = sut;
  // Only sessions that begin later have it.
  await database.query(
    `ALTER DATABASE ${database.name} SET default_transaction_isolation = 'repeatable read'`,
  );
  await using opened = openDatabase({ ...databaseOptions(database.url), statementTimeoutMs: 60_000 });
  const leadOfWindow = () => ({
    ...leadOf(tenant, { phoneE164: number }),
    duplicateWindowSeconds: windowSeconds,
  });
  const original = leadOfWindow();
  const repeated = leadOfWindow();
  let inserting: Promise<unknown> | undefined;
  await opened.transaction(async (tx) => {
    await markDuplicates(tx, [original]);
    inserting = createLeadStore(opened).insert([repeated]);
    await expect.poll(() => database.query(waitingForLocks)).toEqual([{ count: 1 }]);
    await tx.$executeRaw`
      INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, phone_e164, created_at, updated_at)
      VALUES (
        ${original.id}::uuid, ${tenant.workspaceId}::uuid, ${tenant.campaignId}::uuid, ${tenant.userId}::uuid, 'intake', 'OnHold',
        'Ada', ${number}, ${number}, ${original.createdAt}, ${original.createdAt}
      )`;
  });
  await inserting;
  expect(await database.query(`SELECT status, duplicate_of FROM lead WHERE id = '${repeated.id}'`)).toEqual([
    { status: 'Trashed', duplicate_of: original.id },
  ]);
});
