import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeadsError } from '../errors.ts';
import type { IntakeSnapshot, SnapshotStore } from './intake-snapshot.ts';
import { SnapshotRefresher } from './snapshot-refresher.ts';

/** A shelf in memory, that keeps to the revision as JetStream does. */
class Shelf implements Omit<SnapshotStore, 'get'> {
  isConnected = true;
  standing: { at: number; revision: number } | undefined;
  finds = 0;

  async find() {
    this.finds += 1;
    return this.standing;
  }

  async put({ at }: IntakeSnapshot, revision: number | undefined) {
    if (revision !== this.standing?.revision) return;
    this.standing = { at, revision: (revision ?? 0) + 1 };
  }
}

let shelf: Shelf;
let reads: number;
let failure: Error | undefined;
let errors: unknown[];
let keepers: SnapshotRefresher[];

const source = {
  async readSnapshot() {
    reads += 1;
    if (failure !== undefined) throw failure;
    return { at: Date.now(), keys: [], campaigns: [], landingPages: [] };
  },
};
const keep = () => {
  const keeper = new SnapshotRefresher(source, shelf, (error) => errors.push(error));
  keepers.push(keeper);
  return keeper;
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  shelf = new Shelf();
  reads = 0;
  failure = undefined;
  errors = [];
  keepers = [];
});
afterEach(async () => {
  await Promise.all(keepers.map((keeper) => keeper[Symbol.asyncDispose]()));
  vi.useRealTimers();
});

const soon = { timeout: 10_000, interval: 20 };

test('several instances take one snapshot in 15 seconds', async () => {
  for (let n = 0; n < 3; n++) keep();
  await expect.poll(() => shelf.standing?.revision, soon).toBe(1);
  const first = shelf.standing?.at ?? 0;
  vi.setSystemTime(first + 5_000);
  // Whoever has not heard of another's yet asks once, and then knows.
  await expect.poll(() => shelf.finds, soon).toBeGreaterThanOrEqual(3);
  expect(shelf.standing?.revision).toBe(1);
  vi.setSystemTime(first + 15_001);
  await expect.poll(() => shelf.standing?.revision, soon).toBe(2);
  expect(shelf.standing?.at).toBeGreaterThan(first + 15_000);
});

test('a change has it taken anew at once', async () => {
  const keeper = keep();
  await expect.poll(() => shelf.standing?.revision, soon).toBe(1);
  vi.setSystemTime((shelf.standing?.at ?? 0) + 1_000);
  keeper.noteChange();
  vi.setSystemTime(Date.now() + 1);
  await expect.poll(() => shelf.standing?.revision, { timeout: 2_000, interval: 20 }).toBe(2);
});

test('without a broker nothing is read, and without the database what stands is left', async () => {
  shelf.isConnected = false;
  keep();
  await turn();
  expect([shelf.finds, reads]).toEqual([0, 0]);
  failure = new LeadsError('unavailable');
  shelf.isConnected = true;
  await expect.poll(() => errors, soon).toEqual([failure]);
  expect(shelf.standing).toBeUndefined();
  failure = undefined;
  await expect.poll(() => shelf.standing?.revision, soon).toBe(1);
  expect(errors).toHaveLength(1);
});
