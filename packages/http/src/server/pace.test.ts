import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { atPace, Pace } from './pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Yields texts of 1,000 bytes without an end. */
async function* texts() {
  for (;;) yield 'x'.repeat(1_000);
}

/** Reads a number of texts, with a pause after each. Returns the number of calls for a slow client. */
async function readSlowly(count: number, pauseMs: number): Promise<number> {
  let slow = 0;
  const pieces = atPace(texts(), new Pace({ idleMs: 30_000, bytesPerSecond: 1_000 }), () => (slow += 1));
  for (let index = 0; index < count; index++) {
    await pieces.next();
    await vi.advanceTimersByTimeAsync(pauseMs);
  }
  await pieces.return();
  await vi.advanceTimersByTimeAsync(1_000_000);
  return slow;
}

test('a client that reads at the minimum rate is not disconnected, however long it takes', async () => {
  expect(await readSlowly(200, 1_000)).toBe(0);
});

test('a client that reads less is disconnected after the grace period', async () => {
  // After each text, 4 s have passed and 1 s is earned: the grace period of 30 s is used up after 10 texts.
  expect(await readSlowly(9, 4_000)).toBe(0);
  expect(await readSlowly(11, 4_000)).toBe(1);
});

test('a client that reads nothing is disconnected', async () => {
  expect(await readSlowly(1, 32_000)).toBe(1);
});
