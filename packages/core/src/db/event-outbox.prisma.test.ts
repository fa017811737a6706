import { beforeEach, expect, test } from 'vitest';
import {
  addTenant,
  changeOf,
  databaseOptions,
  leadOf,
  longDescription,
  storeEdits,
} from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { countReads } from '../../test/count-reads.ts';
import { createGate } from '../../test/gate.ts';
import { LeadsError } from '../errors.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { openDatabase } from './client.ts';
import { createEventOutbox } from './event-outbox.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';

const [testDatabase, database] = await openTestDatabase();
const tenant = await addTenant(testDatabase, 'acme');
const outbox = createEventOutbox(database);
const leads = createLeadStore(database);

beforeEach(() => testDatabase.query('TRUNCATE lead_outbox'));

test('publishNext allows one publisher at a time, and publishes events again after a failure', async () => {
  const added = [leadOf(tenant), leadOf(tenant)];
  await leads.insert(added);
  const gate = createGate();
  const started = createGate();
  const first = outbox.publishNext(10, async () => {
    started.open();
    await gate.opened;
    throw new LeadsError('unavailable');
  });
  await started.opened;
  expect(await outbox.publishNext(10, () => Promise.reject(new Error('never')))).toBeUndefined();
  gate.open();
  await expect(first).rejects.toThrow('Service temporarily unavailable');

  const published: string[] = [];
  const publish = async (events: readonly { readonly subject: string }[]) => {
    published.push(...events.map(({ subject }) => subject));
  };
  expect(await outbox.publishNext(10, publish)).toBe(2);
  expect(published.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
  expect(await outbox.publishNext(10, publish)).toBe(0);
  expect(published).toHaveLength(2);
});

test('publishNext publishes at most the requested number of events, and each event once', async () => {
  for (let statement = 0; statement < 4; statement++) {
    await leads.insert([leadOf(tenant), leadOf(tenant), leadOf(tenant)]);
  }
  await leads.insert(Array.from({ length: 23 }, () => leadOf(tenant)));
  const counts: number[] = [];
  const published = new Set<string>();
  for (;;) {
    const count = await outbox.publishNext(7, async (events) => {
      for (const { id } of events) published.add(id);
    });
    if (count === 0) break;
    counts.push(count ?? Number.NaN);
  }
  expect(counts).toEqual([6, 6, 7, 7, 7, 2]);
  expect(published.size).toBe(35);
});

test('publishNext adds to each event the traceparent of its own request only', async () => {
  // With a single connection, a setting that outlives its statement would affect the next one.
  await using narrow = openDatabase({ ...databaseOptions(testDatabase.url), poolSize: 1 });
  const store = createLeadStore(narrow);
  const traceparentOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const added = Array.from({ length: 6 }, () => leadOf(tenant));
  const [a, b, c, single, watched, last] = added;
  if (!a || !b || !c || !single || !watched || !last) throw new Error('There are six');
  await store.insert([
    { ...a, traceparent: traceparentOf('a') },
    b,
    { ...c, traceparent: traceparentOf('c') },
  ]);
  await store.insert([{ ...single, traceparent: traceparentOf('1') }]);
  const phoneE164 = '+442079460958';
  await store.insert([
    { ...watched, phoneE164, duplicateWindowSeconds: 60, traceparent: traceparentOf('2') },
  ]);
  await store.insert([last]);
  await store.change(a.workspaceId, [{ ...changeOf(b), traceparent: traceparentOf('b') }]);
  await store.change(a.workspaceId, [changeOf(a)]);

  const published = new Map<string, string | undefined>();
  const publish = async (events: readonly LeadEvent[]) => {
    for (const { id, traceparent } of events) published.set(id, traceparent);
  };
  // A row that is published in two parts keeps the traceparents of both.
  while ((await outbox.publishNext(2, publish)) !== 0);
  expect(Object.fromEntries(published)).toEqual({
    [`${a.id}.1`]: traceparentOf('a'),
    [`${b.id}.1`]: undefined,
    [`${c.id}.1`]: traceparentOf('c'),
    [`${single.id}.1`]: traceparentOf('1'),
    [`${watched.id}.1`]: traceparentOf('2'),
    [`${last.id}.1`]: undefined,
    [`${b.id}.2`]: traceparentOf('b'),
    [`${a.id}.2`]: undefined,
  });
});

test('publishNext reads the changes of its events, and none of the earlier changes of their leads', async () => {
  const lead = leadOf(tenant, { description: longDescription(1) });
  await leads.insert([lead]);
  await storeEdits(leads, lead, 11);
  await testDatabase.query('TRUNCATE lead_outbox');
  await storeEdits(leads, { ...lead, version: 11, description: longDescription(11) }, 12);
  const counted = countReads(database);
  const published: LeadEvent[] = [];
  expect(
    await createEventOutbox(counted.database).publishNext(10, async (events) => {
      published.push(...events);
    }),
  ).toBe(1);
  expect(published).toMatchObject([
    { data: { lead: { description: longDescription(12) }, change: { version: 12 } } },
  ]);
  expect(counted.takeBytes()).toBeLessThan(300_000);
});

test('publishNext reads a backlog of large events in parts, and publishes each version as it was', async () => {
  const lead = leadOf(tenant, { description: longDescription(1) });
  await leads.insert([lead]);
  await storeEdits(leads, lead, 60);
  const counted = countReads(database);
  const store = createEventOutbox(counted.database);
  const published: LeadEvent[] = [];
  const bytes: number[] = [];
  const publish = async (events: readonly LeadEvent[]) => {
    published.push(...events);
    bytes.push(counted.takeBytes());
  };
  while ((await store.publishNext(1_000, publish)) !== 0);
  expect(Math.max(...bytes)).toBeLessThan(2 * 1024 * 1024);
  expect(published.map(({ data }) => [data.lead.version, data.lead.description])).toEqual(
    Array.from({ length: 60 }, (_, at) => [at + 1, longDescription(at + 1)]),
  );
});

test('publishNext publishes an event that alone exceeds the bytes of a batch', async () => {
  const largest = leadOf(tenant, { description: 'x'.repeat(5_000_000) });
  await leads.insert([largest, leadOf(tenant)]);
  const published: (readonly LeadEvent[])[] = [];
  const publish = async (events: readonly LeadEvent[]) => {
    published.push(events);
  };
  expect(await outbox.publishNext(1_000, publish)).toBe(2);
  expect(published.map(({ length }) => length)).toEqual([1, 1]);
  expect(published[0]?.[0]?.data.lead.description).toHaveLength(5_000_000);
});

test('publishNext publishes the events of one statement in parts if their leads are large', async () => {
  const large = Array.from({ length: 40 }, () => leadOf(tenant, { description: 'x'.repeat(300_000) }));
  await leads.insert(large);
  const published: string[][] = [];
  const publish = async (events: readonly LeadEvent[]) => {
    published.push(events.map(({ subject }) => subject));
  };
  // At once, because the relay pauses if one call publishes few of the events that it requests.
  expect(await outbox.publishNext(1_000, publish)).toBe(40);
  expect(published.map(({ length }) => length)).toEqual([6, 6, 6, 6, 6, 6, 4]);
  expect(published.flat().toSorted()).toEqual(large.map(({ id }) => id).toSorted());
});

test('the outbox returns the time of its oldest event', async () => {
  expect(await outbox.oldest()).toBeUndefined();
  const before = Date.now();
  await leads.insert([leadOf(tenant)]);
  const oldest = await outbox.oldest();
  await leads.insert([leadOf(tenant)]);
  expect(await outbox.oldest()).toEqual(oldest);
  expect(Math.abs((oldest?.getTime() ?? 0) - before)).toBeLessThan(60_000);
});
