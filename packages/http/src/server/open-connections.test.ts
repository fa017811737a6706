import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OpenConnections } from './open-connections.ts';

const connections = new OpenConnections();
const server = createServer({ keepAliveTimeout: 0 });
connections.watch(server);
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Opens a connection that the server has accepted, and collects what it receives until it ends. */
async function open(sent: string) {
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  const ended = once(socket, 'close').then(() => received);
  await accepted;
  socket.write(sent);
  return { socket, ended };
}

const nextRequest = async () => (await once(server, 'request')) as [IncomingMessage, ServerResponse];
const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

test('closes the connections without a whole request, and completes the responses to whole requests', async () => {
  const silent = await open('');
  const beginning = await open('GET / HTTP/1.1\r\n');
  const posts = nextRequest();
  const partial = await open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
  await posts;

  let requests = nextRequest();
  const kept = await open(get);
  const [, keptResponse] = await requests;
  keptResponse.end('first');
  await once(keptResponse, 'close');

  requests = nextRequest();
  const waiting = await open(get);
  const [, response] = await requests;
  response.setHeader('connection', 'close');

  connections.closeWaiting();
  expect(await Promise.all([silent.ended, beginning.ended, partial.ended])).toEqual(['', '', '']);
  expect(await kept.ended).toContain('first');
  response.end('second');
  expect(await waiting.ended).toContain('second');
});
