import { expect, test } from 'vitest';
import { retryPauseMs } from './retry-schedule.ts';

const minutes = (pauseMs: number | undefined) => pauseMs !== undefined && pauseMs / 60_000;

test('the pauses are 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and there are 10 attempts', () => {
  const pauses = Array.from({ length: 10 }, (_, i) => minutes(retryPauseMs(i + 1, { random: 0.5 })));
  expect(pauses).toEqual([5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440, false]);
});

test('a pause varies by up to 20 %', () => {
  expect([0, 1].map((random) => retryPauseMs(1, { random }))).toEqual([4_000, 6_000]);
  const pauses = Array.from({ length: 50 }, () => retryPauseMs(2) ?? 0);
  expect(new Set(pauses).size).toBeGreaterThan(10);
});

test('Retry-After extends a pause up to 24 h, and never shortens it or adds an attempt', () => {
  const pause = (attempts: number, retryAfterSeconds: number) =>
    minutes(retryPauseMs(attempts, { retryAfterSeconds, random: 0.5 }));
  expect([pause(2, 3_600), pause(2, 10), pause(2, 10 ** 9), pause(10, 60)]).toEqual([60, 5, 1440, false]);
});
