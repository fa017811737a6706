import { describe, expect, test } from 'vitest';
import { RateLimit } from './rate-limit.ts';

/** Creates a limit on a manual clock. `advance` moves the clock by milliseconds. */
function limitOf(perMinute: number, start = 1_000_000.5) {
  let now = start;
  const limit = new RateLimit(perMinute, () => now);
  const take = (key = 'a') => limit.take(key);
  const takeMany = (count: number, key = 'a') =>
    Array.from({ length: count }, () => take(key)).filter(({ isExceeded }) => !isExceeded).length;
  return {
    take,
    takeMany,
    advance: (ms: number) => {
      now += ms;
    },
  };
}

describe('a rate limit', () => {
  test('accepts a whole quota at once and returns the remaining quota', () => {
    const { take } = limitOf(3);
    expect([take(), take(), take(), take(), take()]).toEqual([
      { isExceeded: false, remaining: 2, resetMs: expect.closeTo(20_000) },
      { isExceeded: false, remaining: 1, resetMs: expect.closeTo(40_000) },
      { isExceeded: false, remaining: 0, resetMs: expect.closeTo(20_000) },
      { isExceeded: true, remaining: 0, resetMs: expect.closeTo(20_000) },
      { isExceeded: true, remaining: 0, resetMs: expect.closeTo(20_000) },
    ]);
  });

  test('returns whether the quota is exceeded without counting a request', () => {
    let now = 0;
    const limit = new RateLimit(2, () => now);
    const isExceeded = () => [limit.isExceeded('a'), limit.isExceeded('b')];
    expect(isExceeded()).toEqual([false, false]);
    limit.take('a');
    expect([isExceeded(), isExceeded()]).toEqual([
      [false, false],
      [false, false],
    ]);
    limit.take('a');
    expect(isExceeded()).toEqual([true, false]);
    now = 30_000;
    expect(isExceeded()).toEqual([false, false]);
  });

  test('refills evenly, up to the quota', () => {
    const { take, takeMany, advance } = limitOf(60);
    expect(takeMany(100)).toBe(60);
    advance(999);
    expect(take()).toMatchObject({ isExceeded: true, resetMs: expect.closeTo(1) });
    advance(1);
    expect(takeMany(10)).toBe(1);
    advance(10_000);
    expect(takeMany(100)).toBe(10);
    advance(3_600_000);
    expect(takeMany(100)).toBe(60);
  });

  test('accepts requests at its rate in the long run when a client always exceeds it', () => {
    const { takeMany, advance } = limitOf(600);
    let taken = 0;
    for (let second = 0; second < 3_600; second++) {
      taken += takeMany(600);
      advance(1_000);
    }
    expect(taken).toBe(600 + 10 * 3_599);
  });

  test('is exact for quotas that do not divide a minute', () => {
    for (const perMinute of [1, 7, 601, 99_991]) {
      for (const start of [0, 0.1, 8.64e7 + 1 / 3]) {
        const { takeMany, advance } = limitOf(perMinute, start);
        expect([perMinute, takeMany(perMinute + 5)]).toEqual([perMinute, perMinute]);
        advance(60_000);
        expect([perMinute, takeMany(perMinute + 5)]).toEqual([perMinute, perMinute]);
      }
    }
  });

  test('applies to each key separately and keeps the state of every key in use', () => {
    const { take, takeMany, advance } = limitOf(60);
    expect(takeMany(100, 'a')).toBe(60);
    expect(takeMany(100, 'b')).toBe(60);
    // 250 s cover several expiries of the stored state.
    for (let i = 0; i < 250; i++) {
      advance(1_000);
      expect(takeMany(3, 'a')).toBe(1);
    }
    expect(takeMany(100, 'b')).toBe(60);
    advance(59_000);
    expect(take('b').remaining).toBe(58);
  });
});
