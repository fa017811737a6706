import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
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
  expect(open.size).toBe(1);
  await broker[Symbol.asyncDispose]();
  await expect.poll(() => open.size).toBe(0);
});
