import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BatchSize } from './batch-size.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('halves after work that took longer than the longest duration, and doubles after other work', async () => {
  const size = new BatchSize({ min: 1, max: 50, longestMs: 100 });
  const sizes: number[] = [];
  for (const msPerItem of [10, 10, 10, 10, 10, 200, 200, 200, 200, 200, 1]) {
    sizes.push(size.current);
    await size.adjust(async () => void vi.advanceTimersByTime(size.current * msPerItem));
  }
  expect(sizes).toEqual([50, 25, 12, 6, 12, 6, 3, 1, 1, 1, 1]);
  expect(size.current).toBe(2);
});
