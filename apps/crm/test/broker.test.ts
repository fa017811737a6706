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
  await broker.connected(5_000);
});
afterAll(async () => {
  await broker[Symbol.asyncDispose]();
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
});

const messages = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ subject: 'told.x', payload: `${index}`, id: `${index}` }));
const stateOf = async () => (await (await broker.manager()).streams.info('TOLD')).state;

test('what is published is stored in its order, repeats are not, and nothing is said of what is not stored', async () => {
  const refused = { code: 'unavailable' };
  await expect(broker.publish(messages(2))).rejects.toMatchObject({
    ...refused,
    cause: { message: 'No stream has this subject' },
  });
  const { streams } = await broker.manager();
  // As `DiscardPolicy.New`, whose name is core's alone.
  const bounds = { max_msgs: 1_000, discard: 'new' as never };
  await streams.add({ name: 'TOLD', subjects: ['told.>'], ...bounds });

  await broker.publish([]);
  await broker.publish(messages(900));
  await broker.publish(messages(900));
  expect(await stateOf()).toMatchObject({ messages: 900 });
  for (const seq of [1, 450, 900]) {
    const stored = await streams.getMessage('TOLD', { seq });
    expect(stored.string()).toBe(`${seq - 1}`);
  }

  await expect(broker.publish(messages(1_100))).rejects.toMatchObject({
    ...refused,
    cause: { message: 'maximum messages exceeded' },
  });
  expect(await stateOf()).toMatchObject({ messages: 1_000 });
});

test('a broker that stands still is given up, and what was sent to it is no harm later', async () => {
  process.kill(nats.pid, 'SIGSTOP');
  try {
    // A thread of it may still answer when the signal has been sent.
    const refusal = () => broker.publish(messages(3)).catch((error: unknown) => error);
    await expect.poll(refusal, { timeout: 20_000 }).toMatchObject({
      code: 'unavailable',
      cause: { message: 'NATS did not acknowledge in time' },
    });
  } finally {
    process.kill(nats.pid, 'SIGCONT');
  }
  await expect
    .poll(() => broker.publish(messages(3)).then(() => 'stored'), { timeout: 10_000 })
    .toBe('stored');
  expect(await stateOf()).toMatchObject({ messages: 1_000 });
});
