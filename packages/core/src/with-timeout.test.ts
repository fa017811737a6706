import { expect, test } from 'vitest';
import { timedOut, withTimeout } from './with-timeout.ts';

test('returns the outcome of work in time, and timedOut for late work, even if the work fails later', async () => {
  const never = new Promise<string>(() => undefined);
  expect(await withTimeout(60_000, Promise.resolve('done'))).toBe('done');
  await expect(withTimeout(60_000, Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
  expect(await withTimeout(5, never)).toBe(timedOut);

  let fail: (error: Error) => void = () => undefined;
  const failing = new Promise<string>((_, reject) => (fail = reject));
  expect(await withTimeout(5, failing)).toBe(timedOut);
  // An unhandled rejection would end the process.
  fail(new Error('too late'));
});

test('clears its timer when the work is done', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await withTimeout(60_000, Promise.resolve());
  expect(timers()).toBe(before);
});
