import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { poll } from './poll.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('each change is shown within 2 s if the service answers within 250 ms', async () => {
  /** The times of the changes. */
  const made: number[] = [];
  /** The time from each change until its response. */
  const delays: number[] = [];
  const polling = poll(
    async () => {
      const found = made.slice(delays.length);
      // The worst time of a change: the service has just read the leads for its response.
      made.push(Date.now());
      await new Promise((resolve) => setTimeout(resolve, 250));
      for (const at of found) delays.push(Date.now() - at);
    },
    { isPaused: () => false, onFailing: () => undefined },
  );
  await vi.advanceTimersByTimeAsync(60_000);
  polling.end();
  expect(delays.length).toBeGreaterThan(20);
  expect(Math.max(...delays)).toBeLessThanOrEqual(2_000);
});
