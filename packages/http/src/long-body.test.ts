import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createLogger } from './log.ts';
import { readLongBody, takeLongBodies } from './long-body.ts';
import { createServer } from './server.ts';

const lines: string[] = [];
const log = createLogger({
  service: 'test',
  level: 'trace',
  destination: { write: (line) => void lines.push(line) },
});
const app = createServer({ log, trustProxy: '' });
await app.register(async (scope) => {
  takeLongBodies(scope, 'text/csv');
  const pace = { idleMs: 600, bytesPerSecond: 1000 };
  scope.post('/long', async (incoming) => {
    let bytes = 0;
    for await (const piece of readLongBody(incoming, pace)) bytes += piece.length;
    return { bytes };
  });
  scope.post('/slow', async (incoming) => {
    let bytes = 0;
    for await (const piece of readLongBody(incoming, pace)) {
      bytes += piece.length;
      await sleep(900);
    }
    return { bytes };
  });
  scope.post('/enough', async (incoming) => {
    for await (const piece of readLongBody(incoming, pace)) return { bytes: piece.length };
    return {};
  });
});
await app.listen({ host: '127.0.0.1', port: 0 });
afterAll(() => app.close());
const { port } = app.server.address() as AddressInfo;

function open(path: string): { outgoing: ClientRequest; answered: Promise<[status: number, body: unknown]> } {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    headers: { 'Content-Type': 'text/csv' },
  });
  outgoing.on('error', () => undefined);
  const answered = (async (): Promise<[number, unknown]> => {
    const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    for await (const piece of message) text += String(piece);
    return [message.statusCode ?? 0, JSON.parse(text)];
  })();
  answered.catch(() => undefined);
  return { outgoing, answered };
}

const timedOut = [408, { success: false, error: 'error', message: 'Request timed out' }];

test('a body of any length is read as it comes', async () => {
  const { outgoing, answered } = open('/long');
  for (let i = 0; i < 50; i++) outgoing.write(Buffer.alloc(100_000));
  outgoing.end();
  expect(await answered).toEqual([200, { bytes: 5_000_000 }]);
});

test('one that stops coming is 408', async () => {
  const { outgoing, answered } = open('/long');
  outgoing.write(Buffer.alloc(100_000));
  const since = performance.now();
  expect(await answered).toEqual(timedOut);
  expect(performance.now() - since).toBeGreaterThan(500);
  expect(performance.now() - since).toBeLessThan(5_000);
  outgoing.destroy();
});

test('one that never begins is 408', async () => {
  const { outgoing, answered } = open('/long');
  outgoing.flushHeaders();
  expect(await answered).toEqual(timedOut);
  outgoing.destroy();
});

test('one that trickles is 408, though it never stops', async () => {
  const { outgoing, answered } = open('/long');
  const timer = setInterval(() => outgoing.write('x'), 50);
  try {
    expect(await answered).toEqual(timedOut);
  } finally {
    clearInterval(timer);
    outgoing.destroy();
  }
});

test('the time that a handler takes is not the client’s', async () => {
  const { outgoing, answered } = open('/slow');
  outgoing.write('x');
  await sleep(100);
  outgoing.end('y');
  expect(await answered).toEqual([200, { bytes: 2 }]);
});

test('one that comes steadily may take longer than the server gives to others', async () => {
  const { outgoing, answered } = open('/long');
  for (let i = 0; i < 40; i++) {
    outgoing.write(Buffer.alloc(1000));
    await sleep(300);
  }
  outgoing.end();
  expect(await answered).toEqual([200, { bytes: 40_000 }]);
}, 30_000);

test('a handler that has enough is answered, and a handler whose client leaves is told', async () => {
  const enough = open('/enough');
  enough.outgoing.write('x');
  expect(await enough.answered).toEqual([200, { bytes: 1 }]);
  enough.outgoing.destroy();

  lines.length = 0;
  const { outgoing } = open('/long');
  outgoing.write('x');
  await sleep(200);
  outgoing.destroy();
  await sleep(200);
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ level: 'info', msg: 'The request body ended early' }),
  ]);
});
