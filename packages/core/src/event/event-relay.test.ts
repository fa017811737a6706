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
  await using _relay = new EventRelay({ isConnected: true, emptyMs: 100, publishNext }, onError);

  await expect.poll(() => limits.slice(0, 4), { timeout: 20_000 }).toEqual([1_000, 250, 62, 124]);
  limit = Number.POSITIVE_INFINITY;
  await expect.poll(() => limits.at(-1), { timeout: 20_000 }).toBe(1_000);
  // The first failure of each streak is reported. These are at least two streaks.
  expect(onError.mock.calls.length).toBeGreaterThan(1);
});
