import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  addTenant,
  createTestDatabase,
  databaseOptions,
  leadOf,
  selection,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import { advisoryLocks } from '../db/advisory-locks.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { createHoldTimerStore } from '../db/hold-timer-store.prisma.ts';
import { createLeadStore } from '../db/lead-store.prisma.ts';
import { approvalBatchSize, approveAllDue, type HoldTimerStore, pauseAfter } from './hold-timers.ts';
import type { StoredLead } from './lead.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

let testDatabase: TestDatabase;
let databases: Database[];
let timers: HoldTimerStore[];
let leads: LeadStore;
let a: Tenant;
let b: Tenant;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  // Each instance has its own connections.
  databases = [1, 2].map(() => openDatabase(databaseOptions(testDatabase.url)));
  timers = databases.map(createHoldTimerStore);
  leads = createLeadStore(databases[0] as Database);
  [a, b] = [await addTenant(testDatabase, 'a'), await addTenant(testDatabase, 'b')];
});
beforeEach(() => setHold(a.campaignId, 60));
afterAll(async () => {
  for (const database of databases) await database[Symbol.asyncDispose]();
  await testDatabase[Symbol.asyncDispose]();
});

const setHold = (campaignId: string, seconds: number | null) =>
  testDatabase.query('UPDATE campaign SET approve_after_seconds = $2 WHERE id = $1', [campaignId, seconds]);

/** Inserts leads of a campaign with a hold time of 60 s, created an hour ago, and makes them due. */
async function addDue(given: readonly LeadToInsert[]): Promise<string[]> {
  const createdAt = new Date(Date.now() - 3_600_000);
  await leads.insert(
    given.map((lead) => ({ approveAfterSeconds: 60, ...lead, createdAt, updatedAt: createdAt })),
  );
  const ids = given.map(({ id }) => id);
  await testDatabase.query(`UPDATE lead SET approve_at = approve_at - interval '1 hour' WHERE id = ANY($1)`, [
    ids,
  ]);
  return ids;
}

async function approveNow(timer = timers[0] as HoldTimerStore): Promise<number> {
  let approved = 0;
  await approveAllDue(timer, (count) => (approved += count), new AbortController().signal);
  return approved;
}

const statusOf = async ({ id, workspaceId }: StoredLead) =>
  (await leads.find({ workspaceId }, [id]))[0]?.status;

test('two instances at once approve each due lead of all workspaces once, with its payout, without a user in its history', async () => {
  await setHold(b.campaignId, 60);
  await testDatabase.query(`UPDATE campaign SET payout_amount = 12.5, payout_currency = 'EUR'`);
  const due = [a, b].flatMap((tenant) => Array.from({ length: 600 }, () => leadOf(tenant)));
  const ids = await addDue(due);
  const waiting = leadOf(a);
  await leads.insert([{ ...waiting, approveAfterSeconds: 60 }]);
  expect(await timers[1]?.listWaiting()).toMatchObject([
    { workspace: 'a', campaignCode: 'default', approveAfterSeconds: 60, leads: 601, due: 600 },
    { workspace: 'b', campaignCode: 'default', approveAfterSeconds: 60, leads: 600, due: 600 },
  ]);

  const approved = await Promise.all(timers.map((timer) => approveNow(timer)));
  expect(approved[0] ?? 0).toBeGreaterThan(0);
  expect(approved[1] ?? 0).toBeGreaterThan(0);
  expect((approved[0] ?? 0) + (approved[1] ?? 0)).toBe(1_200);
  const rows = await testDatabase.query(
    `SELECT lead.status, lead.version, approve_at, payout_amount::float8 AS payout, count(*)::int AS leads,
       count(*) FILTER (WHERE lead_change.user_id IS NULL AND reason = 'hold_ended' AND from_status = 'OnHold'
         AND to_status = 'Approved' AND fields->'payout'->'to'->>'amount' = '12.5')::int AS changes
     FROM lead LEFT JOIN lead_change ON lead_id = id WHERE id = ANY($1) GROUP BY 1, 2, 3, 4`,
    [ids],
  );
  expect(rows).toEqual([
    { status: 'Approved', version: 2, approve_at: null, payout: 12.5, leads: 1_200, changes: 1_200 },
  ]);
  expect(await statusOf(waiting)).toBe('OnHold');
  // The triggers count the leads and write the events, as for every change.
  const [counts] = await testDatabase.query(
    `SELECT (SELECT sum(leads)::int FROM lead_tally_entry WHERE status = 'Approved') AS counted,
       (SELECT count(*)::int FROM lead_outbox, unnest(versions) AS version WHERE version = 2) AS events`,
  );
  expect(counts).toEqual({ counted: 1_200, events: 1_200 });
  expect(await approveNow()).toBe(0);
});

test('a hold time applies to new leads on hold only, and a later status change ends it', async () => {
  const [timed, plain] = [leadOf(a), leadOf(a)];
  const duplicate = leadOf(a, { status: 'Trashed' });
  const settled = leadOf(a);
  const returned = leadOf(a);
  await leads.insert([plain]);
  await addDue([timed, duplicate, settled, returned]);
  const change = (lead: StoredLead, from: StoredLead['status'], to: StoredLead['status']) =>
    leads.changeStatus(a.workspaceId, {
      id: lead.id,
      from: [from],
      to,
      reason: 'No',
      createdAt: new Date(),
      userId: a.userId,
    });
  expect(await change(settled, 'OnHold', 'Trashed')).toMatchObject({ status: 'Trashed' });
  expect(await change(settled, 'Trashed', 'OnHold')).not.toHaveProperty('approveAt');
  // A release without hold times changes a status, and does not remove the time.
  await testDatabase.query(
    `UPDATE lead SET version = 3 WHERE id = '${returned.id}';
     INSERT INTO lead_change (lead_id, version, user_id, from_status, to_status, reason, created_at) VALUES
       ('${returned.id}', 2, '${a.userId}', 'OnHold', 'Trashed', 'No', now()),
       ('${returned.id}', 3, '${a.userId}', 'Trashed', 'OnHold', NULL, now())`,
  );
  expect(await approveNow()).toBe(1);
  const statuses = await Promise.all([timed, plain, duplicate, settled, returned].map(statusOf));
  expect(statuses).toEqual(['Approved', 'OnHold', 'Trashed', 'OnHold', 'OnHold']);
});

test('a longer hold time postpones leads that wait, a shorter one does not advance them, and none stops them', async () => {
  const find = async (lead: StoredLead) => (await leads.find({ workspaceId: a.workspaceId }, [lead.id]))[0];
  const [postponed, stopped, later] = [leadOf(a), leadOf(a), leadOf(a)];
  await addDue([postponed]);
  await setHold(a.campaignId, 7_200);
  const createdAt = (await find(postponed))?.createdAt.getTime() ?? 0;
  expect((await find(postponed))?.approveAt).toBe(new Date(createdAt + 7_200_000).toISOString());
  expect(await approveNow()).toBe(0);
  const [row] = await testDatabase.query('SELECT approve_at, version FROM lead WHERE id = $1', [
    postponed.id,
  ]);
  expect(row).toEqual({ approve_at: new Date(createdAt + 7_200_000), version: 1 });

  await leads.insert([{ ...later, approveAfterSeconds: 7_200 }]);
  await setHold(a.campaignId, 60);
  expect(Date.parse((await find(later))?.approveAt ?? '')).toBeGreaterThan(Date.now() + 7_000_000);

  await addDue([stopped]);
  await setHold(a.campaignId, null);
  expect(await find(stopped)).not.toHaveProperty('approveAt');
  expect(await approveNow()).toBe(0);
  // A new hold time does not apply to the lead any more.
  await setHold(a.campaignId, 60);
  expect(await approveNow()).toBe(0);
  expect(await statusOf(stopped)).toBe('OnHold');
  const [exported] = await leads.scan(selection(a), { limit: 1 });
  expect(exported).toContain((await find(later))?.approveAt);
});

test('a held lead, and one that another transaction has locked, are left out until they are free', async () => {
  const [held, locked, free] = [leadOf(a), leadOf(a), leadOf(a)];
  await addDue([held, locked, free]);
  await testDatabase.query(`UPDATE lead SET hold_reason = 'Proof' WHERE id = $1`, [held.id]);
  const lock = await databases[1]?.transaction(async (tx) => {
    await tx.$queryRaw`SELECT FROM lead WHERE id = ${locked.id}::uuid FOR UPDATE`;
    return approveNow();
  });
  expect(lock).toBe(1);
  expect(await Promise.all([held, locked, free].map(statusOf))).toEqual(['OnHold', 'OnHold', 'Approved']);
  await testDatabase.query('UPDATE lead SET hold_reason = NULL WHERE id = $1', [held.id]);
  expect(await approveNow()).toBe(2);
});

test('the approvals of two instances run one after the other', async () => {
  await addDue([leadOf(a)]);
  const waiting = `SELECT count(*)::int AS waiting FROM pg_locks
    WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const approved = await databases[1]?.transaction(async (tx) => {
    await tx.$queryRaw`SELECT FROM pg_advisory_xact_lock(${advisoryLocks.holdTimers}::int8)`;
    const approval = approveNow();
    await expect.poll(() => testDatabase.query(waiting)).toEqual([{ waiting: 1 }]);
    return { approval };
  });
  expect(await approved?.approval).toBe(1);
});

/** Returns when instances have approved leads that are due at 0, in seconds. */
function secondsOf(due: number, instances: number, batchMs: number): number {
  const checkMs = 5_000;
  const nextMs = Array.from({ length: instances }, () => checkMs);
  let endMs = 0;
  for (let left = due; left > 0; left -= approvalBatchSize) {
    const at = nextMs.indexOf(Math.min(...nextMs));
    const startMs = nextMs[at] ?? 0;
    // Batches run one after the other.
    endMs = Math.max(endMs, startMs) + batchMs;
    nextMs[at] = endMs + pauseAfter(endMs - startMs, startMs / 1_000);
  }
  return endMs / 1_000;
}

test('the pauses after batches spread 100,000 leads over most of a minute, also for one instance and for slow batches', () => {
  const quick = secondsOf(100_000, 2, 3);
  expect(quick).toBeGreaterThan(35);
  expect(quick).toBeLessThan(50);
  expect(secondsOf(100_000, 1, 3)).toBeLessThan(60);
  expect(secondsOf(100_000, 2, 7.5)).toBeLessThan(60);
  expect(pauseAfter(10, 0)).toBe(60);
  expect(pauseAfter(10, 3_600)).toBe(5);
});
