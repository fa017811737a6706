import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import {
  addTenant,
  changeOf,
  leadOf,
  longDescription,
  storeEdits,
  type Tenant,
} from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { countReads } from '../../test/count-reads.ts';
import type { StoredLead } from '../lead/lead.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { createErasableLeads } from './erasure-store.prisma.ts';
import { createEventLog } from './event-log.prisma.ts';
import { createEventOutbox } from './event-outbox.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';

const [testDatabase, database] = await openTestDatabase();
const tenant = await addTenant(testDatabase, 'acme');
const other = await addTenant(testDatabase, 'other');
const log = createEventLog(database);
const outbox = createEventOutbox(database);
const leads = createLeadStore(database);

beforeEach(() => testDatabase.query('TRUNCATE lead_outbox, lead_event_log, lead_event_log_state'));

async function publishAll(limit = 1_000): Promise<void> {
  while ((await log.publishNext(limit)) !== 0);
}
/** Reads all pages of a workspace. Returns the event ids, and the sequence number of each. */
async function readAll(of: Tenant = tenant, from = 0): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let after = from; ; ) {
    const { events, upTo, hasMore } = await log.read(of.workspaceId, after);
    for (const { sequence, event } of events) {
      expect(sequence).toBeGreaterThan(after);
      expect(event.source).toBe(`/workspaces/${of.workspaceId}`);
      found.set(event.id, sequence);
    }
    if (!hasMore) return found;
    expect(upTo).toBeGreaterThan(after);
    after = upTo;
  }
}
const leadsOf = (count: number, of = tenant) => Array.from({ length: count }, () => leadOf(of));

test('a page has the events of one workspace only, also if a statement stored leads of several', async () => {
  const [mine, theirs] = [leadsOf(150), leadsOf(150, other)];
  await leads.insert(mine.flatMap((lead, at) => [lead, theirs[at] as StoredLead]));
  await leads.insert([leadOf(other)]);
  await publishAll();
  const found = await readAll();
  expect(new Set(found.keys())).toEqual(new Set(mine.map(({ id }) => `${id}.1`)));
  expect(new Set(found.values()).size).toBe(150);
  expect((await readAll(other)).size).toBe(151);
  expect((await log.state())?.last).toBe(301);
  const newest = await log.workspacesAfter(300);
  expect(newest).toEqual(new Map([[other.workspaceId, 301]]));
});

test('a statement of 3,500 leads is read in bounded pages, from any position in it', async () => {
  const many = leadsOf(3_500);
  await leads.insert(many);
  await publishAll();
  const first = await log.read(tenant.workspaceId, 0);
  expect(first.events).toHaveLength(100);
  expect(first).toMatchObject({ upTo: 100, hasMore: true });
  expect((await readAll()).size).toBe(3_500);
  expect([...(await readAll(tenant, 3_490)).values()]).toEqual(
    Array.from({ length: 10 }, (_, n) => 3_491 + n),
  );
});

test('a page has at most 2 MiB of leads, and at least one event', async () => {
  const large = Array.from({ length: 40 }, () => leadOf(tenant, { description: 'x'.repeat(300_000) }));
  await leads.insert(large);
  await publishAll();
  expect((await log.read(tenant.workspaceId, 0)).events).toHaveLength(7);
  expect((await readAll()).size).toBe(40);
});

test('an event whose transaction commits late is published after later ones, and no reader misses it', async () => {
  const late = leadOf(tenant);
  const client = new pg.Client(testDatabase.url);
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO lead (id, workspace_id, user_id, campaign_id, source, status, name, phone, created_at, updated_at)
       VALUES ($1, $2, $3, $4, 'crm', 'OnHold', 'Late', '1', now(), now())`,
      [late.id, late.workspaceId, late.userId, late.campaignId],
    );
    const meanwhile = leadsOf(3);
    for (const lead of meanwhile) await leads.insert([lead]);
    await publishAll();
    const before = await readAll();
    expect([...before.keys()]).toEqual(meanwhile.map(({ id }) => `${id}.1`));
    await client.query('COMMIT');
    await publishAll();
    expect([...(await readAll(tenant, 3)).keys()]).toEqual([`${late.id}.1`]);
  } finally {
    await client.end();
  }
});

test('the versions of a lead are published in their order, each as the lead was', async () => {
  let lead = leadOf(tenant, { city: 'Paris' });
  await leads.insert([lead]);
  const first = lead;
  for (const city of ['London', 'Rome', 'Oslo']) {
    const change = changeOf(lead, {
      lead: { status: 'OnHold', city },
      change: { status: undefined, fields: { city: { from: lead.city, to: city } } },
    });
    await leads.change(lead.workspaceId, [change]);
    lead = change.lead;
  }
  await publishAll();
  const { events } = await log.read(tenant.workspaceId, 0);
  expect(events.map(({ event }) => [event.id, event.data.lead['city' as never]])).toEqual(
    ['Paris', 'London', 'Rome', 'Oslo'].map((city, at) => [`${first.id}.${at + 1}`, city]),
  );
});

test('a page is read without the text of the changes that follow its events', async () => {
  const lead = leadOf(tenant, { description: longDescription(1) });
  await leads.insert([lead]);
  await leads.insert(leadsOf(99));
  await storeEdits(leads, lead, 12);
  await publishAll();
  const counted = countReads(database);
  const { events } = await createEventLog(counted.database).read(tenant.workspaceId, 0);
  expect(events).toHaveLength(100);
  expect(events[0]?.event.data.lead.description).toBe(longDescription(1));
  expect(counted.takeBytes()).toBeLessThan(400_000);
});

test('publishNext moves nothing while another transaction has the lock, and continues its positions', async () => {
  await leads.insert(leadsOf(2));
  const client = new pg.Client(testDatabase.url);
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.outbox})`);
    expect(await log.publishNext(10)).toBeUndefined();
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
  expect(await log.publishNext(10)).toBe(2);
  await leads.insert(leadsOf(3));
  expect(await log.publishNext(10)).toBe(3);
  expect([...(await readAll()).values()]).toEqual([1, 2, 3, 4, 5]);
});

test('the log keeps its state, and its first event moves up, when old events are dropped', async () => {
  expect(await log.state()).toBeUndefined();
  await leads.insert(leadsOf(2));
  await publishAll();
  const { streamMs } = (await log.state()) ?? {};
  expect(await log.state()).toMatchObject({ first: 1, last: 2 });
  expect(await log.lastBefore(new Date(Date.now() + 86_400_000))).toBe(2);
  await testDatabase.query(`UPDATE lead_event_log SET published_at = now() - interval '2 days'`);
  const yesterday = new Date(Date.now() - 86_400_000);
  await leads.insert(leadsOf(3));
  await publishAll();
  expect(await log.lastBefore(yesterday)).toBe(2);
  expect(await log.dropOlderThan(86_400_000, 10)).toBe(1);
  expect(await log.state()).toMatchObject({ streamMs, first: 3, last: 5 });
  expect(await log.lastBefore(yesterday)).toBeUndefined();
  expect(await log.dropOlderThan(-86_400_000, 10)).toBe(1);
  expect(await log.state()).toMatchObject({ streamMs, first: 6, last: 5 });
  await leads.insert(leadsOf(1));
  await publishAll();
  expect(await log.state()).toMatchObject({ streamMs, first: 6, last: 6 });
});

test('the oldest events are dropped first, a bounded number at a time', async () => {
  for (let n = 0; n < 3; n++) {
    await leads.insert(leadsOf(2));
    await publishAll();
  }
  await testDatabase.query(`UPDATE lead_event_log SET published_at = now() - interval '2 days'`);
  expect(await log.dropOlderThan(86_400_000, 2)).toBe(2);
  expect(await log.state()).toMatchObject({ first: 5, last: 6 });
  expect(await log.dropOlderThan(86_400_000, 2)).toBe(1);
  expect(await log.dropOlderThan(86_400_000, 2)).toBe(0);
});

test('published times never decrease, even if the clock of Postgres is set back', async () => {
  await leads.insert(leadsOf(1));
  await publishAll();
  await testDatabase.query(`
    UPDATE lead_event_log SET published_at = now() + interval '1 hour';
    UPDATE lead_event_log_state SET last_published_at = now() + interval '1 hour'`);
  await leads.insert(leadsOf(1));
  await publishAll();
  const times = await testDatabase.query<{ at: Date }>(
    'SELECT published_at AS at FROM lead_event_log ORDER BY position',
  );
  expect(times[1]?.at.getTime()).toBeGreaterThanOrEqual(times[0]?.at.getTime() ?? Number.NaN);
});

test('events of an erased lead are left out, and positions behind them stay valid', async () => {
  const batch = leadsOf(3);
  await leads.insert(batch);
  await leads.insert(leadsOf(1));
  await publishAll();
  const before = await readAll();
  const gone = [...before.keys()][1] ?? '';
  await createErasableLeads(database).visit(({ id }) => `${id}.1` === gone, { erase: true });
  const [first, , third, last] = [...before.keys()];
  expect([...(await readAll()).keys()]).toEqual([first, third, last]);
  expect([...(await readAll(tenant, 2)).keys()].slice(-2)).toEqual([third, last]);
  expect([...(await readAll(tenant, 3)).keys()]).toEqual([last]);
});

test('with NATS, logged events return to the outbox and are published in order before later ones', async () => {
  const batch = leadsOf(4);
  for (const lead of batch) await leads.insert([lead]);
  await publishAll();
  const [first] = batch;
  if (first === undefined) throw new Error('There are four');
  await leads.change(first.workspaceId, [changeOf(first)]);
  const published: string[] = [];
  const publish = async (events: readonly { readonly id: string }[]) => {
    published.push(...events.map(({ id }) => id));
  };
  while ((await outbox.publishNext(2, publish)) !== 0);
  expect(published).toEqual([...batch.map(({ id }) => `${id}.1`), `${first.id}.2`]);
  // The next log is another one, so that its event ids differ.
  expect(await log.state()).toBeUndefined();
});
