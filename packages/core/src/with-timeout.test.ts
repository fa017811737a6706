import { expect, test } from 'vitest';
import { timedOut, withTimeout } from './with-timeout.ts';

test('work in time is what it comes to, and work that is late is late, however it ends', async () => {
  const never = new Promise<string>(() => undefined);
  expect(await withTimeout(60_000, Promise.resolve('done'))).toBe('done');
  await expect(withTimeout(60_000, Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
  expect(await withTimeout(5, never)).toBe(timedOut);

  let fail: (error: Error) => void = () => undefined;
  const failing = new Promise<string>((_, reject) => (fail = reject));
  expect(await withTimeout(5, failing)).toBe(timedOut);
  // Were it nobody's to hear of, the process would end.
  fail(new Error('too late'));
});

test('work that is done leaves no timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await withTimeout(60_000, Promise.resolve());
  expect(timers()).toBe(before);
});
