import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addedAtOnce, LeadCountAggregator } from './lead-count-aggregator.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('what cannot be added up at once is added up in smaller parts, until more goes again', async () => {
  const asked: number[] = [];
  let waiting = 3 * addedAtOnce;
  let most = addedAtOnce / 10;
  const onError = vi.fn<(error: unknown) => void>();
  const addUp = async (count: number) => {
    asked.push(count);
    if (count > most) throw new Error('It takes too long');
    const added = Math.min(count, waiting);
    waiting -= added;
    return added;
  };
  await using _keeper = new LeadCountAggregator({ addUp }, onError);

  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toEqual([addedAtOnce, addedAtOnce / 4]);
  expect(onError).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(waiting).toBeLessThan(3 * addedAtOnce);
  most = Number.POSITIVE_INFINITY;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(waiting).toBe(0);
  expect(Math.max(...asked.slice(2))).toBe(addedAtOnce);
});
