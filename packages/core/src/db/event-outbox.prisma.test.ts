import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  addTenant,
  changeOf,
  createTestDatabase,
  databaseOptions,
  leadOf,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import { createGate } from '../../test/gate.ts';
import { LeadsError } from '../errors.ts';
import type { EventOutbox } from '../event/event-outbox.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import type { LeadStore } from '../lead/lead-store.ts';
import { type Database, openDatabase } from './client.ts';
import { createEventOutbox } from './event-outbox.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';

let testDatabase: TestDatabase;
let database: Database;
let outbox: EventOutbox;
let leads: LeadStore;
let tenant: Tenant;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  tenant = await addTenant(testDatabase, 'acme');
  database = openDatabase(databaseOptions(testDatabase.url));
  outbox = createEventOutbox(database);
  leads = createLeadStore(database);
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await testDatabase[Symbol.asyncDispose]();
});
beforeEach(() => testDatabase.query('TRUNCATE lead_outbox'));

test('hands over to one at a time, and what was not told again', async () => {
  const added = [leadOf(tenant), leadOf(tenant)];
  await leads.insert(added);
  const gate = createGate();
  const begun = createGate();
  const first = outbox.publishNext(10, async () => {
    begun.open();
    await gate.opened;
    throw new LeadsError('unavailable');
  });
  await begun.opened;
  expect(await outbox.publishNext(10, () => Promise.reject(new Error('never')))).toBeUndefined();
  gate.open();
  await expect(first).rejects.toThrow('Service temporarily unavailable');

  const told: string[] = [];
  const tell = async (events: readonly { readonly subject: string }[]) => {
    told.push(...events.map(({ subject }) => subject));
  };
  expect(await outbox.publishNext(10, tell)).toBe(2);
  expect(told.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
  expect(await outbox.publishNext(10, tell)).toBe(0);
  expect(told).toHaveLength(2);
});

test('hands over no more than it is asked for, and each event once', async () => {
  for (let statement = 0; statement < 4; statement++) {
    await leads.insert([leadOf(tenant), leadOf(tenant), leadOf(tenant)]);
  }
  await leads.insert(Array.from({ length: 23 }, () => leadOf(tenant)));
  const counts: number[] = [];
  const told = new Set<string>();
  for (;;) {
    const count = await outbox.publishNext(7, async (events) => {
      for (const { id } of events) told.add(id);
    });
    if (count === 0) break;
    counts.push(count ?? Number.NaN);
  }
  expect(counts).toEqual([6, 6, 7, 7, 7, 2]);
  expect(told.size).toBe(35);
});

test('tells of each lead the request that it came of, and of none that of another', async () => {
  // One connection: what is set for a statement is not to be there for the next.
  await using narrow = openDatabase({ ...databaseOptions(testDatabase.url), poolSize: 1 });
  const store = createLeadStore(narrow);
  const traceparentOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const added = Array.from({ length: 6 }, () => leadOf(tenant));
  const [a, b, c, lone, watched, last] = added;
  if (!a || !b || !c || !lone || !watched || !last) throw new Error('There are six');
  await store.insert([
    { ...a, traceparent: traceparentOf('a') },
    b,
    { ...c, traceparent: traceparentOf('c') },
  ]);
  await store.insert([{ ...lone, traceparent: traceparentOf('1') }]);
  const phoneE164 = '+442079460958';
  await store.insert([
    { ...watched, phoneE164, duplicateWindowSeconds: 60, traceparent: traceparentOf('2') },
  ]);
  await store.insert([last]);
  await store.change(a.workspaceId, [{ ...changeOf(b), traceparent: traceparentOf('b') }]);
  await store.change(a.workspaceId, [changeOf(a)]);

  const told = new Map<string, string | undefined>();
  const tell = async (events: readonly LeadEvent[]) => {
    for (const { id, traceparent } of events) told.set(id, traceparent);
  };
  // A row that is cut knows them of both parts.
  while ((await outbox.publishNext(2, tell)) !== 0);
  expect(Object.fromEntries(told)).toEqual({
    [`${a.id}.1`]: traceparentOf('a'),
    [`${b.id}.1`]: undefined,
    [`${c.id}.1`]: traceparentOf('c'),
    [`${lone.id}.1`]: traceparentOf('1'),
    [`${watched.id}.1`]: traceparentOf('2'),
    [`${last.id}.1`]: undefined,
    [`${b.id}.2`]: traceparentOf('b'),
    [`${a.id}.2`]: undefined,
  });
});

test('knows since when the oldest waits', async () => {
  expect(await outbox.oldest()).toBeUndefined();
  const before = Date.now();
  await leads.insert([leadOf(tenant)]);
  const oldest = await outbox.oldest();
  await leads.insert([leadOf(tenant)]);
  expect(await outbox.oldest()).toEqual(oldest);
  expect(Math.abs((oldest?.getTime() ?? 0) - before)).toBeLessThan(60_000);
  expect(await outbox.dropBefore(new Date(Date.now() - 60_000))).toBe(0);
  expect(await outbox.dropBefore(new Date(Date.now() + 60_000))).toBe(2);
});
