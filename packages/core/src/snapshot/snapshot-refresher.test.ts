import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeadsError } from '../errors.ts';
import type { IntakeSnapshot, SnapshotStore } from './intake-snapshot.ts';
import { SnapshotRefresher } from './snapshot-refresher.ts';

/** A snapshot store in memory, which checks the revision as JetStream does. */
class MemoryStore implements Omit<SnapshotStore, 'get'> {
  isConnected = true;
  stored: { at: number; revision: number } | undefined;
  finds = 0;

  async find() {
    this.finds += 1;
    return this.stored;
  }

  async put({ at }: IntakeSnapshot, revision: number | undefined) {
    if (revision !== this.stored?.revision) return;
    this.stored = { at, revision: (revision ?? 0) + 1 };
  }
}

let store: MemoryStore;
let reads: number;
let failure: Error | undefined;
let errors: unknown[];
let refreshers: SnapshotRefresher[];

const source = {
  async readSnapshot() {
    reads += 1;
    if (failure !== undefined) throw failure;
    return { at: Date.now(), keys: [], campaigns: [], landingPages: [] };
  },
};
const start = () => {
  const refresher = new SnapshotRefresher(source, store, (error) => errors.push(error));
  refreshers.push(refresher);
  return refresher;
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  store = new MemoryStore();
  reads = 0;
  failure = undefined;
  errors = [];
  refreshers = [];
});
afterEach(async () => {
  await Promise.all(refreshers.map((refresher) => refresher[Symbol.asyncDispose]()));
  vi.useRealTimers();
});

const soon = { interval: 20 };

test('several instances store one snapshot every 15 s', async () => {
  for (let n = 0; n < 3; n++) start();
  await expect.poll(() => store.stored?.revision, soon).toBe(1);
  const first = store.stored?.at ?? 0;
  vi.advanceTimersByTime(5_000);
  // An instance that has not read the new snapshot checks for it once.
  await expect.poll(() => store.finds, soon).toBeGreaterThanOrEqual(3);
  expect(store.stored?.revision).toBe(1);
  vi.advanceTimersByTime(10_001);
  await expect.poll(() => store.stored?.revision, soon).toBe(2);
  expect(store.stored?.at).toBeGreaterThan(first + 15_000);
});

test('replaces the snapshot at once after a change', async () => {
  const refresher = start();
  await expect.poll(() => store.stored?.revision, soon).toBe(1);
  vi.advanceTimersByTime(1_000);
  refresher.noteChange();
  vi.advanceTimersByTime(2);
  await expect.poll(() => store.stored?.revision, soon).toBe(2);
});

test('replaces a snapshot of an instance whose clock was ahead', async () => {
  store.stored = { at: Date.now() + 3_600_000, revision: 1 };
  start();
  await turn();
  expect([store.finds, store.stored.revision]).toEqual([1, 1]);
  vi.advanceTimersByTime(15_001);
  await expect.poll(() => store.stored?.revision, soon).toBe(2);
  expect(store.stored.at).toBeLessThanOrEqual(Date.now());
});

test('reads nothing without the broker, and keeps the stored snapshot without the database', async () => {
  store.isConnected = false;
  start();
  await turn();
  expect([store.finds, reads]).toEqual([0, 0]);
  failure = new LeadsError('unavailable');
  store.isConnected = true;
  await expect.poll(() => errors, soon).toEqual([failure]);
  expect(store.stored).toBeUndefined();
  failure = undefined;
  await expect.poll(() => store.stored?.revision, soon).toBe(1);
  expect(errors).toHaveLength(1);
});
