import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function setUp() {
  const changes: boolean[] = [];
  return { changes, breaker: new CircuitBreaker((isOpen) => changes.push(isOpen)) };
}
const unreachable = new Error('unreachable');

test('opens after three consecutive failures', () => {
  const { breaker, changes } = setUp();
  for (let n = 0; n < 5; n++) {
    breaker.recordFailure(unreachable);
    breaker.recordFailure(unreachable);
    breaker.recordResponse();
  }
  expect(breaker.isOpen).toBe(false);
  for (let n = 0; n < 5; n++) breaker.recordFailure(unreachable);
  expect(breaker.isOpen).toBe(true);
  expect(changes).toEqual([true]);
});

test('opens at the first timeout, unless Postgres responded in the meantime', () => {
  const { breaker, changes } = setUp();
  vi.advanceTimersByTime(1_000);
  const startedAt = performance.now();
  vi.advanceTimersByTime(500);
  breaker.recordResponse();
  vi.advanceTimersByTime(500);
  breaker.recordTimeout(startedAt);
  expect(breaker.isOpen).toBe(false);
  breaker.recordTimeout(performance.now());
  expect(changes).toEqual([true]);
});

test('allows one probe at a time while it is open, and closes at the first response', () => {
  const { breaker, changes } = setUp();
  vi.advanceTimersByTime(1_000);
  breaker.recordTimeout(performance.now());
  expect(breaker.tryProbe()).toBe(false);
  vi.advanceTimersByTime(500);
  expect([breaker.tryProbe(), breaker.tryProbe()]).toEqual([true, false]);
  // The probe gets no response.
  vi.advanceTimersByTime(1_999);
  expect(breaker.tryProbe()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(breaker.tryProbe()).toBe(true);
  breaker.recordFailure(unreachable);
  vi.advanceTimersByTime(499);
  expect(breaker.tryProbe()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(breaker.tryProbe()).toBe(true);
  breaker.recordResponse();
  breaker.recordResponse();
  expect([breaker.isOpen, changes]).toEqual([false, [true, false]]);
});
