import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
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

test('returns what arrived while the process stood still', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [receiver] = (await once(server, 'connection')) as [Socket];
  const received = withTimeout(100, once(receiver, 'data'));
  sender.write('done');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  expect(await received).toEqual([Buffer.from('done')]);
  sender.destroy();
  server.close();
});

test('clears its timer when the work is done', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await withTimeout(60_000, Promise.resolve());
  expect(timers()).toBe(before);
});
