import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Broker } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { afterAll, beforeAll, expect, test } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'leads-broker-'));
let nats: LocalNats;
let broker: Broker;

beforeAll(async () => {
  nats = await startNats({ binary: await findNatsServer(), dataDir: directory });
  broker = new Broker({ url: nats.url, name: 'test' });
  await broker.connected(60_000);
});
afterAll(async () => {
  await broker[Symbol.asyncDispose]();
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
});

const messages = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ subject: 'test.x', payload: `${index}`, id: `${index}` }));
const stateOf = async () => (await (await broker.manager()).streams.info('TEST')).state;

test('publishing stores messages in order, skips repeated ones, and fails if a message is not stored', async () => {
  const unavailable = { code: 'unavailable' };
  await expect(broker.publish(messages(2))).rejects.toMatchObject({
    ...unavailable,
    cause: { name: 'BrokerError', message: 'No stream has this subject' },
  });
  const { streams } = await broker.manager();
  // The value of `DiscardPolicy.New`. Only the core package may import its name.
  const bounds = { max_msgs: 1_000, discard: 'new' as never };
  await streams.add({ name: 'TEST', subjects: ['test.>'], ...bounds });

  await broker.publish([]);
  await broker.publish(messages(900));
  await broker.publish(messages(900));
  expect(await stateOf()).toMatchObject({ messages: 900 });
  for (const seq of [1, 450, 900]) {
    const stored = await streams.getMessage('TEST', { seq });
    expect(stored.string()).toBe(`${seq - 1}`);
  }

  await expect(broker.publish(messages(1_100))).rejects.toMatchObject({
    ...unavailable,
    cause: { name: 'BrokerError', message: 'maximum messages exceeded' },
  });
  expect(await stateOf()).toMatchObject({ messages: 1_000 });
});

test('publishing to a frozen broker fails, and a retry stores no message twice', async () => {
  process.kill(nats.pid, 'SIGSTOP');
  try {
    // Just after the signal, a thread of the broker may still answer.
    const publishError = () => broker.publish(messages(3)).catch((error: unknown) => error);
    await expect.poll(publishError).toMatchObject({
      code: 'unavailable',
      cause: { name: 'BrokerError', message: 'NATS did not acknowledge in time' },
    });
  } finally {
    process.kill(nats.pid, 'SIGCONT');
  }
  await expect.poll(() => broker.publish(messages(3)).then(() => 'stored')).toBe('stored');
  expect(await stateOf()).toMatchObject({ messages: 1_000 });
});

test('reconnects after NATS has rejected its credentials several times', async () => {
  const dataDir = join(directory, 'rejected');
  const start = async (password: string, port?: number) =>
    startNats({
      binary: await findNatsServer(),
      dataDir,
      port,
      settings: `authorization { user: test, password: ${password} }`,
    });
  let server = await start('right');
  try {
    await using client = new Broker({ url: server.url.replace('//', '//test:right@'), name: 'test' });
    expect(await client.connected(60_000)).toBe(true);
    const { connection } = client;
    const changes: unknown[] = [];
    void (async () => {
      for await (const { data } of connection.status()) changes.push(data);
    })();

    await server.stop();
    server = await start('other', server.port);
    await expect
      .poll(() => changes.filter((data) => data === 'AUTHORIZATION_VIOLATION').length)
      .toBeGreaterThan(2);
    await server.stop();
    server = await start('right', server.port);
    await expect.poll(() => client.isConnected).toBe(true);
  } finally {
    await server.stop();
  }
});
