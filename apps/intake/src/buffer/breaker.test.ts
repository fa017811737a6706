import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Breaker } from './breaker.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function setUp() {
  const changes: boolean[] = [];
  return { changes, breaker: new Breaker((isOpen) => changes.push(isOpen)) };
}
const away = new Error('away');

test('opens at three failures in a row, and not at some among others', () => {
  const { breaker, changes } = setUp();
  for (let n = 0; n < 5; n++) {
    breaker.failed(away);
    breaker.failed(away);
    breaker.answered();
  }
  expect(breaker.isOpen).toBe(false);
  for (let n = 0; n < 5; n++) breaker.failed(away);
  expect(breaker.isOpen).toBe(true);
  expect(changes).toEqual([true]);
});

test('opens at once at what is late, unless Postgres has answered meanwhile', () => {
  const { breaker, changes } = setUp();
  vi.advanceTimersByTime(1_000);
  const since = performance.now();
  vi.advanceTimersByTime(500);
  breaker.answered();
  vi.advanceTimersByTime(500);
  breaker.late(since);
  expect(breaker.isOpen).toBe(false);
  breaker.late(performance.now());
  expect(changes).toEqual([true]);
});

test('while it is open, one at a time may try; the first that is answered closes it', () => {
  const { breaker, changes } = setUp();
  vi.advanceTimersByTime(1_000);
  breaker.late(performance.now());
  expect(breaker.tryAgain()).toBe(false);
  vi.advanceTimersByTime(500);
  expect([breaker.tryAgain(), breaker.tryAgain()]).toEqual([true, false]);
  // It does not come back.
  vi.advanceTimersByTime(1_999);
  expect(breaker.tryAgain()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(breaker.tryAgain()).toBe(true);
  breaker.failed(away);
  vi.advanceTimersByTime(499);
  expect(breaker.tryAgain()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(breaker.tryAgain()).toBe(true);
  breaker.answered();
  breaker.answered();
  expect([breaker.isOpen, changes]).toEqual([false, [true, false]]);
});
