import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeadCountAggregator, maxLeadsPerAggregation } from './lead-count-aggregator.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('aggregates smaller batches after a failure, and larger ones after each success', async () => {
  const limits: number[] = [];
  let waiting = 3 * maxLeadsPerAggregation;
  let limit = maxLeadsPerAggregation / 10;
  const onError = vi.fn<(error: unknown) => void>();
  const aggregate = async (count: number) => {
    limits.push(count);
    if (count > limit) throw new Error('timed out');
    const aggregated = Math.min(count, waiting);
    waiting -= aggregated;
    return aggregated;
  };
  await using _aggregator = new LeadCountAggregator({ aggregate }, onError);

  await vi.advanceTimersByTimeAsync(10_000);
  expect(limits).toEqual([maxLeadsPerAggregation, Math.floor(maxLeadsPerAggregation / 4)]);
  expect(onError).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(waiting).toBeLessThan(3 * maxLeadsPerAggregation);
  limit = Number.POSITIVE_INFINITY;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(waiting).toBe(0);
  expect(Math.max(...limits.slice(2))).toBe(maxLeadsPerAggregation);
});

test('pauses after a full batch for three times as long as the batch took', async () => {
  const startsMs: number[] = [];
  const firstMs = Date.now();
  const aggregate = async (limit: number) => {
    startsMs.push(Date.now() - firstMs);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return startsMs.length < 3 ? limit : 0;
  };
  await using _aggregator = new LeadCountAggregator({ aggregate }, () => undefined);
  await vi.advanceTimersByTimeAsync(6_000);
  expect(startsMs).toEqual([5_000, 5_400, 5_800]);
});
