import { afterEach, expect, test, vi } from 'vitest';
import { onOneDay } from '../src/one-day.ts';

afterEach(() => {
  vi.useRealTimers();
});

test.each(['fail', 'pass'])('checks run again if the day changes meanwhile and they %s', async (outcome) => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-31T23:59:59.999Z') });
  const days: string[] = [];
  await onOneDay(async (day) => {
    days.push(day);
    if (days.length > 1) return;
    vi.setSystemTime(new Date('2026-02-01T00:00:00Z'));
    if (outcome === 'fail') throw new Error('The days differ');
  });
  expect(days).toEqual(['2026-01-31', '2026-02-01']);
});

test('checks that fail on one day fail', async () => {
  const checks = onOneDay(() => Promise.reject(new Error('The days differ')));
  await expect(checks).rejects.toThrow('The days differ');
});
