import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { EventRelay } from './event-relay.ts';

test('publishes smaller batches after a failure, and larger ones after each success', async () => {
  const limits: number[] = [];
  let limit = 100;
  const publishNext = async (count: number) => {
    limits.push(count);
    if (count > limit) throw new Error('timed out');
    return limits.length < 30 ? count : 0;
  };
  const onError = vi.fn<(error: unknown) => void>();
  await using _relay = new EventRelay({ isConnected: true, nearlyEmptyMs: 100, publishNext }, onError);

  await expect.poll(() => limits.slice(0, 4)).toEqual([1_000, 250, 62, 124]);
  limit = Number.POSITIVE_INFINITY;
  await expect.poll(() => limits.at(-1)).toBe(1_000);
  // The first failure of each streak is reported. These are at least two streaks.
  expect(onError.mock.calls.length).toBeGreaterThan(1);
});

test('publishes the next batch at once after a full one, and pauses after a batch of a few events', async () => {
  const counts = [1_000, 250, 249];
  let published = 0;
  // The pause is longer than the test.
  const target = {
    isConnected: true,
    nearlyEmptyMs: 3_600_000,
    publishNext: async () => counts[published++] ?? 0,
  };
  await using _relay = new EventRelay(target, vi.fn<(error: unknown) => void>());

  await expect.poll(() => published).toBeGreaterThanOrEqual(counts.length);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(published).toBe(counts.length);
});
