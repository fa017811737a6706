import { EventEmitter, once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createLogger } from '../service/log.ts';
import { createServer } from './create-server.ts';
import { readLongBody, acceptLongBodies } from './long-body.ts';

const lines: string[] = [];
const log = createLogger({
  service: 'test',
  level: 'trace',
  destination: { write: (line) => void lines.push(line) },
});
const app = createServer({ log, trustProxy: '' });
/** Emits `piece` for each piece of a body that a handler has read. */
const read = new EventEmitter();
await app.register(async (scope) => {
  acceptLongBodies(scope, 'text/csv');
  const add = (path: string, idleMs: number, handlerMs = 0) =>
    scope.post(path, async (incoming) => {
      let bytes = 0;
      for await (const piece of readLongBody(incoming, { idleMs, bytesPerSecond: 1000 })) {
        bytes += piece.length;
        read.emit('piece');
        await sleep(handlerMs);
      }
      return { bytes };
    });
  add('/long', 3_000);
  add('/impatient', 600);
  add('/slow', 1_000, 1_300);
  scope.post('/enough', async (incoming) => {
    for await (const piece of readLongBody(incoming)) return { bytes: piece.length };
    return {};
  });
});
app.post('/others', async () => ({}));
await app.listen({ host: '127.0.0.1', port: 0 });
afterAll(() => app.close());
const { port } = app.server.address() as AddressInfo;

function open(
  path: string,
  mediaType = 'text/csv',
): { outgoing: ClientRequest; answered: Promise<[status: number, body: unknown]> } {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    headers: { 'Content-Type': mediaType },
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

test('a long body is read as it arrives', async () => {
  const { outgoing, answered } = open('/long');
  for (let i = 0; i < 50; i++) outgoing.write(Buffer.alloc(100_000));
  outgoing.end();
  expect(await answered).toEqual([200, { bytes: 5_000_000 }]);
});

test('a long body that stops arriving is rejected with 408', async () => {
  const { outgoing, answered } = open('/impatient');
  outgoing.write(Buffer.alloc(100_000));
  expect(await answered).toEqual(timedOut);
  outgoing.destroy();
});

test('a long body that never begins is rejected with 408', async () => {
  const { outgoing, answered } = open('/impatient');
  outgoing.flushHeaders();
  expect(await answered).toEqual(timedOut);
  outgoing.destroy();
});

test('a long body that arrives below the minimum rate is rejected with 408', async () => {
  const { outgoing, answered } = open('/impatient');
  const timer = setInterval(() => outgoing.write('x'), 50);
  try {
    expect(await answered).toEqual(timedOut);
  } finally {
    clearInterval(timer);
    outgoing.destroy();
  }
});

test('the time that the handler takes does not count towards the timeout', async () => {
  const { outgoing, answered } = open('/slow');
  outgoing.write('x');
  await sleep(100);
  outgoing.end('y');
  expect(await answered).toEqual([200, { bytes: 2 }]);
});

test('a long body that arrives steadily may exceed the request timeout', async () => {
  const { headersTimeout, requestTimeout } = app.server;
  Object.assign(app.server, { headersTimeout: 500, requestTimeout: 1_000 });
  try {
    // 4 s in total: longer than the idle timeout and the request timeout.
    const { outgoing, answered } = open('/long');
    for (let i = 0; i < 20; i++) {
      outgoing.write(Buffer.alloc(1000));
      await sleep(200);
    }
    outgoing.end();
    expect(await answered).toEqual([200, { bytes: 20_000 }]);

    // Other requests are subject to the request timeout.
    const other = open('/others', 'application/json');
    other.outgoing.write('{');
    expect(await other.answered).toEqual(timedOut);
    other.outgoing.destroy();
  } finally {
    Object.assign(app.server, { headersTimeout, requestTimeout });
  }
});

test('a handler may stop reading and answer, and a client that disconnects is logged', async () => {
  const enough = open('/enough');
  enough.outgoing.write('x');
  expect(await enough.answered).toEqual([200, { bytes: 1 }]);
  enough.outgoing.destroy();

  lines.length = 0;
  const { outgoing } = open('/long');
  outgoing.write('x');
  await once(read, 'piece');
  outgoing.destroy();
  const logged = () => lines.map((line) => JSON.parse(line) as { level: string });
  await expect
    .poll(() => logged().filter(({ level }) => level !== 'debug'))
    .toEqual([expect.objectContaining({ level: 'info', msg: 'The client disconnected during the request' })]);
});
