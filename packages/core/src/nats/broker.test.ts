import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { BrokerError } from '../errors.ts';
import { Broker } from './broker.ts';

test('closes a connection to a server that sends nothing', async () => {
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket)).resume();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const broker = new Broker({ url: `nats://127.0.0.1:${port}`, name: 'test' });
  await expect.poll(() => accepted, { timeout: 30_000 }).toBe(2);
  await expect.poll(() => open.size).toBe(1);
  await broker[Symbol.asyncDispose]();
  await expect.poll(() => open.size).toBe(0);
});

test('the reason of a lost connection is an error that names the server', async () => {
  const server = createServer((socket) => {
    socket.write('INFO {"server_id":"x","version":"2.10.0","max_payload":1048576}\r\n');
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        if (data.includes('PING')) socket.end('PONG\r\n');
      });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reasons: unknown[] = [];
  const onChange = (isConnected: boolean, reason: unknown) => {
    if (!isConnected) reasons.push(reason);
  };
  await using _broker = new Broker({ url: `nats://127.0.0.1:${port}`, name: 'test', onChange });
  await expect.poll(() => reasons).not.toEqual([]);
  expect(reasons[0]).toEqual(new BrokerError(`The connection to 127.0.0.1:${port} ended`));
});
