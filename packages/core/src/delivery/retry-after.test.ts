import { expect, test } from 'vitest';
import { retryAfterSecondsOf } from './retry-after.ts';

const now = new Date('2026-11-21T09:30:00.500Z');

test.each([
  ['0', 0],
  ['120', 120],
  ['999999999', 999_999_999],
  ['Sat, 21 Nov 2026 09:31:00 GMT', 60],
  ['Sat, 21 Nov 2026 09:29:00 GMT', 0],
  ['-5', undefined],
  ['1.5', undefined],
  ['9999999999', undefined],
  ['', undefined],
  ['soon', undefined],
  ['2026-11-21', undefined],
  ['Sat, never', undefined],
  [undefined, undefined],
  [['1', '2'], undefined],
])('the delay of Retry-After: %j is %j s', (value, seconds) => {
  expect(retryAfterSecondsOf(value, now)).toBe(seconds);
});
