import { describe, expect, test } from 'vitest';
import { RateLimit } from './rate-limit.ts';

/** A limit on a clock that stands still until it is told otherwise. */
function limitOf(perMinute: number, start = 1_000_000.5) {
  let now = start;
  const limit = new RateLimit(perMinute, () => now);
  const take = (key = 'a') => limit.take(key);
  const takeMany = (count: number, key = 'a') =>
    Array.from({ length: count }, () => take(key)).filter(({ isExceeded }) => !isExceeded).length;
  return {
    take,
    takeMany,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('a rate limit', () => {
  test('lets a quota through at once, and tells what is left', () => {
    const { take } = limitOf(3);
    expect([take(), take(), take(), take(), take()]).toEqual([
      { isExceeded: false, remaining: 2, resetMs: expect.closeTo(20_000) },
      { isExceeded: false, remaining: 1, resetMs: expect.closeTo(40_000) },
      { isExceeded: false, remaining: 0, resetMs: expect.closeTo(20_000) },
      { isExceeded: true, remaining: 0, resetMs: expect.closeTo(20_000) },
      { isExceeded: true, remaining: 0, resetMs: expect.closeTo(20_000) },
    ]);
  });

  test('gives back evenly what was used, and never more than the quota', () => {
    const { take, takeMany, pass } = limitOf(60);
    expect(takeMany(100)).toBe(60);
    pass(999);
    expect(take()).toMatchObject({ isExceeded: true, resetMs: expect.closeTo(1) });
    pass(1);
    expect(takeMany(10)).toBe(1);
    pass(10_000);
    expect(takeMany(100)).toBe(10);
    pass(3_600_000);
    expect(takeMany(100)).toBe(60);
  });

  test('is its rate in the long run, whoever sends however much', () => {
    const { takeMany, pass } = limitOf(600);
    let taken = 0;
    for (let second = 0; second < 3_600; second++) {
      taken += takeMany(600);
      pass(1_000);
    }
    expect(taken).toBe(600 + 10 * 3_599);
  });

  test('holds to the request, for quotas that do not divide a minute', () => {
    for (const perMinute of [1, 7, 601, 99_991]) {
      for (const start of [0, 0.1, 8.64e7 + 1 / 3]) {
        const { takeMany, pass } = limitOf(perMinute, start);
        expect([perMinute, takeMany(perMinute + 5)]).toEqual([perMinute, perMinute]);
        pass(60_000);
        expect([perMinute, takeMany(perMinute + 5)]).toEqual([perMinute, perMinute]);
      }
    }
  });

  test('is of each key by itself, and forgets nobody who still owes', () => {
    const { take, takeMany, pass } = limitOf(60);
    expect(takeMany(100, 'a')).toBe(60);
    expect(takeMany(100, 'b')).toBe(60);
    // Over the turns of what is kept, in small steps and around them.
    for (let i = 0; i < 250; i++) {
      pass(1_000);
      expect(takeMany(3, 'a')).toBe(1);
    }
    expect(takeMany(100, 'b')).toBe(60);
    pass(59_000);
    expect(take('b').remaining).toBe(58);
  });
});
