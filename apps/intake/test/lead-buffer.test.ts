import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { LeadToInsert } from '@leads/core/lead';
import { Broker, LeadBuffer } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'leads-lead-buffer-'));
const megabyte = 1024 * 1024;
let binary: string;
let nats: LocalNats;
let broker: Broker;

beforeAll(async () => {
  binary = await findNatsServer();
  nats = await startNats({ binary, dataDir: directory });
  broker = new Broker({ url: nats.url, name: 'test' });
  await broker.connected(60_000);
});
beforeEach(async () => {
  const manager = await broker.manager();
  if (await manager.streams.info('LEADS_BUFFER').catch(() => undefined)) {
    await manager.streams.delete('LEADS_BUFFER');
  }
});
afterAll(async () => {
  await broker[Symbol.asyncDispose]();
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
});

const open = (maxBytes = 100 * megabyte, options: { readonly standstillMs?: number } = {}) =>
  new LeadBuffer(
    broker,
    { name: 'LEADS_BUFFER', maxBytes, replicas: 1 },
    // A busy machine can take longer than the intake waits for the broker.
    { ackTimeoutMs: 60_000, ...options },
  );

const createdAt = new Date('2026-01-02T03:04:05.678Z');
function lead(changes: Partial<LeadToInsert> = {}): LeadToInsert {
  return {
    id: randomUUID(),
    workspaceId: randomUUID(),
    campaignId: randomUUID(),
    userId: randomUUID(),
    source: 'intake',
    status: 'OnHold',
    version: 1,
    name: 'Ada “Löve” \u2028 😀',
    phone: '+1 202 555 0143',
    createdAt,
    updatedAt: createdAt,
    ...changes,
  };
}
/** Fetches a number of messages that are too large for one fetch. */
async function fetchLarge(buffer: LeadBuffer, count: number) {
  const fetched: Awaited<ReturnType<LeadBuffer['fetch']>> = [];
  while (fetched.length < count) fetched.push(...(await buffer.fetch(count - fetched.length)));
  return fetched;
}
const stateOf = async () => (await (await broker.manager()).streams.info('LEADS_BUFFER')).state;

test('returns a lead unchanged, and removes its message from the stream once it is acknowledged', async () => {
  const buffer = open();
  const leads = [
    lead({
      phoneE164: '+12025550143',
      address: 'a "street"\n',
      ip: '192.0.2.1',
      s1: 'click',
      lpName: 'page',
      extra: '{"a":"\\u0001"}',
      contentHash: Buffer.from('c0ffee', 'hex'),
      duplicateWindowSeconds: 60,
      updatedAt: new Date(createdAt.getTime() + 1),
    }),
    lead(),
  ];
  await buffer.put(leads);
  const [message, ...others] = await buffer.fetch(10);
  const fetched = message?.leads();
  expect([others, fetched]).toEqual([[], leads]);
  // The lead store writes the time once if both fields are the same Date object.
  expect(fetched?.[1]?.updatedAt).toBe(fetched?.[1]?.createdAt);
  expect((await stateOf()).messages).toBe(1);
  message?.acknowledge();
  await vi.waitFor(async () => expect((await stateOf()).messages).toBe(0), 30_000);
});

test('reports the count, size and age of waiting messages, including fetched ones, and the room', async () => {
  const buffer = open();
  expect(await buffer.waiting()).toEqual({
    messages: 0,
    bytes: 0,
    room: 100 * megabyte,
    oldestAt: undefined,
  });
  const from = Date.now();
  await buffer.put([lead(), lead()]);
  await buffer.put([lead()]);
  const [message] = await buffer.fetch(1);
  const { messages, bytes, room, oldestAt } = await buffer.waiting();
  expect([messages, bytes]).toEqual([2, (await stateOf()).bytes]);
  expect(room).toBe(100 * megabyte - bytes);
  expect(oldestAt?.getTime()).toBeGreaterThanOrEqual(from);
  expect(oldestAt?.getTime()).toBeLessThanOrEqual(Date.now());
  message?.acknowledge();
  await vi.waitFor(async () => {
    const rest = await buffer.waiting();
    expect(rest.messages).toBe(1);
    expect(Number(rest.oldestAt)).toBeGreaterThanOrEqual(Number(oldestAt));
  }, 60_000);
});

test('splits leads into messages that do not exceed the limit of the broker', async () => {
  const buffer = open();
  const leads = Array.from({ length: 500 }, () => lead({ address: 'ä'.repeat(5_000) }));
  await buffer.put(leads);
  const { messages, bytes } = await stateOf();
  expect(messages).toBe(Math.ceil(bytes / megabyte));
  const fetched = (await fetchLarge(buffer, messages)).flatMap((message) => message.leads());
  expect(new Set(fetched.map(({ id }) => id))).toEqual(new Set(leads.map(({ id }) => id)));
});

test('concurrent fetches get different messages, and a nak has a message redelivered', async () => {
  const [one, another] = [open(), open()];
  for (let n = 0; n < 10; n++) await one.put([lead({ name: String(n) })]);
  const fetched = (await Promise.all([one.fetch(5), another.fetch(5)])).flat();
  const rest = await one.fetch(10);
  const names = [...fetched, ...rest].flatMap((message) => message.leads().map(({ name }) => name));
  expect(names.toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => String(n)));
  for (const message of [...fetched, ...rest]) message.nak();
  const again: string[] = [];
  await vi.waitFor(
    async () => {
      again.push(...(await another.fetch(10)).flatMap((message) => message.leads().map(({ name }) => name)));
      expect(again).toHaveLength(10);
    },
    { timeout: 60_000 },
  );
  expect(again.toSorted()).toEqual(names.toSorted());
});

test('a fetch returns many small messages, or about 1 MiB of large messages', async () => {
  const buffer = open();
  await Promise.all(Array.from({ length: 250 }, () => buffer.put([lead()])));
  const small = await buffer.fetch(1_000);
  expect(small).toHaveLength(250);
  for (const message of small) message.acknowledge();
  for (let n = 0; n < 300; n++) await buffer.put([lead({ address: 'x'.repeat(20_000) })]);
  const fetched = await buffer.fetch(1_000);
  expect(fetched.length).toBeGreaterThanOrEqual(52);
  expect(fetched.length).toBeLessThan(250);
});

test.each(['large', 'small'])(
  'a fetch that begins with a %s message returns about 1 MiB of messages of the largest size',
  async (first) => {
    const buffer = open();
    const large = { address: 'x'.repeat(1_000_000) };
    await buffer.put([lead(first === 'large' ? large : {})]);
    for (let n = 0; n < 20; n++) await buffer.put([lead(large)]);
    // One more message, because the size of the last one is unknown before it is fetched.
    const fetched = await buffer.fetch(1_000);
    expect(fetched.length).toBeGreaterThanOrEqual(2);
    expect(fetched.length).toBeLessThanOrEqual(4);
  },
);

test('a fetch that begins with many small messages returns at most 16 MiB of large ones', async () => {
  const buffer = open();
  await Promise.all(Array.from({ length: 130 }, () => buffer.put([lead()])));
  for (let n = 0; n < 30; n++) await buffer.put([lead({ address: 'x'.repeat(1_000_000) })]);
  const fetched = await buffer.fetch(1_000);
  expect(fetched.length).toBeGreaterThanOrEqual(130);
  expect(fetched.length).toBeLessThanOrEqual(130 + 16);
});

test('redelivers a message to another instance if the first does not acknowledge it', async () => {
  const [stopped, another] = [open(), open()];
  const leads = [lead(), lead()];
  await stopped.put(leads);
  await another.checkRoom();
  expect(await stopped.fetch(10)).toHaveLength(1);
  expect(await another.fetch(10)).toEqual([]);
  const { consumers } = await broker.manager();
  const [consumer] = await consumers.list('LEADS_BUFFER').next();
  const { ack_wait: waitNs = 0, ack_policy: policy, max_deliver: times } = consumer?.config ?? {};
  expect({ waitNs, policy, times }).toEqual({ waitNs: 20e9, policy: 'explicit', times: -1 });

  // A shorter redelivery time speeds up the test.
  await consumers.update('LEADS_BUFFER', consumer?.name ?? '', { ack_wait: 0.5e9 });
  const again = await vi.waitFor(
    async () => {
      const [message] = await another.fetch(10);
      if (message === undefined) throw new Error('The message was not redelivered');
      return message;
    },
    { timeout: 60_000 },
  );
  expect(again.leads()).toEqual(leads);
  again.acknowledge();
  await vi.waitFor(async () => expect((await stateOf()).messages).toBe(0), { timeout: 60_000 });
});

test('rejects leads at its size limit, and accepts leads again once it has room', async () => {
  const buffer = open(megabyte);
  await buffer.checkRoom();
  const put = async () => {
    for (;;) await buffer.put([lead({ address: 'x'.repeat(50_000) })]);
  };
  await expect(put()).rejects.toMatchObject({ name: 'LeadsError', code: 'unavailable' });
  await expect(buffer.checkRoom()).rejects.toMatchObject({ code: 'unavailable' });
  const { messages } = await stateOf();
  for (const message of await buffer.fetch(100)) message.acknowledge();
  expect(messages).toBeGreaterThan(15);
  await vi.waitFor(() => buffer.checkRoom(), 30_000);
  await buffer.put([lead()]);
});

test('keeps its oldest message when it is full to the last byte', async () => {
  const buffer = open(megabyte);
  const first = lead();
  await buffer.put([first]);
  let puts = 1;
  const put = async (length: number) => {
    await buffer.put([lead({ address: 'x'.repeat(length) })]);
    puts += 1;
  };
  while ((await stateOf()).bytes < megabyte - 60_000) await put(50_000);
  // The lead gets smaller until it fits, so that it takes the rest of the space.
  let isAccepted = false;
  for (let length = megabyte - (await stateOf()).bytes; !isAccepted; length -= 16) {
    isAccepted = await put(length).then(
      () => true,
      () => false,
    );
  }
  const { messages, bytes } = await stateOf();
  expect([messages, bytes % 64]).toEqual([puts, 0]);
  const [oldest] = await buffer.fetch(1);
  expect(oldest?.leads()).toEqual([first]);
});

test('updates the limits of an existing stream, and recreates a deleted stream', async () => {
  await open(megabyte).put([lead()]);
  const buffer = open(2 * megabyte);
  await buffer.checkRoom();
  const manager = await broker.manager();
  const { config, state } = await manager.streams.info('LEADS_BUFFER');
  expect([config.max_bytes, state.messages]).toEqual([2 * megabyte, 1]);
  expect(config).toMatchObject({ storage: 'file', discard: 'new', retention: 'workqueue', max_age: 0 });
  await manager.streams.delete('LEADS_BUFFER');
  await vi.waitFor(() => buffer.put([lead()]), 30_000);
  expect((await stateOf()).messages).toBe(1);
});

test('keeps all leads of a stream that an operator has limited to one message and an hour', async () => {
  await open().put([lead()]);
  const { streams } = await broker.manager();
  const { config: original } = await streams.info('LEADS_BUFFER');
  await streams.update('LEADS_BUFFER', {
    discard: 'old' as typeof original.discard,
    max_age: 3_600e9,
    max_msgs: 1,
    max_msgs_per_subject: 1,
  });
  await open().put([lead()]);
  const { config, state } = await streams.info('LEADS_BUFFER');
  expect([state.messages, config.discard, config.max_age]).toEqual([2, 'new', 0]);
});

test('shrinks the stream only once no message would be dropped', async () => {
  for (let n = 0; n < 3; n++) await open(4 * megabyte).put([lead({ address: 'x'.repeat(600_000) })]);
  const applySmallerLimit = async () => {
    await open(megabyte)
      .checkRoom()
      .catch(() => undefined);
    const { config, state } = await (await broker.manager()).streams.info('LEADS_BUFFER');
    return [config.max_bytes / megabyte, state.messages];
  };
  expect(await applySmallerLimit()).toEqual([4, 3]);
  for (const message of await fetchLarge(open(4 * megabyte), 3)) message.acknowledge();
  await vi.waitFor(async () => expect(await applySmallerLimit()).toEqual([1, 0]), 30_000);
});

test('the error of a malformed message has its number and not its content', async () => {
  const buffer = open();
  await buffer.put([lead()]);
  await broker.publish([{ subject: 'buffer.leads', payload: 'Ada, +1 202 555 0143', id: 'other' }]);
  const fetched = await buffer.fetch(10);
  expect(fetched[0]?.leads()).toHaveLength(1);
  expect(() => fetched[1]?.leads()).toThrow(/^Message 2 of the buffer cannot be parsed$/);
});

test('delivers messages that a killed broker restored although they were acknowledged', async () => {
  const leads = [lead(), lead(), lead()];
  for (const each of leads) await open().put([each]);
  // Restores the message files from before the acknowledgments, because the broker writes acknowledgments to disk late.
  const messages = join(directory, 'streams/jetstream/$G/streams/LEADS_BUFFER/msgs');
  const backup = join(directory, 'backup');
  await nats.stop();
  cpSync(messages, backup, { recursive: true });
  nats = await startNats({ binary, dataDir: directory, port: nats.port });
  await vi.waitFor(() => expect(broker.isConnected).toBe(true), 30_000);
  for (const message of await open().fetch(10)) message.acknowledge();
  await vi.waitFor(async () => expect((await stateOf()).messages).toBe(0), 30_000);
  await nats.stop();
  rmSync(messages, { recursive: true });
  renameSync(backup, messages);
  nats = await startNats({ binary, dataDir: directory, port: nats.port });
  await vi.waitFor(async () => expect((await stateOf()).messages).toBe(3), 30_000);

  const buffer = open(100 * megabyte, { standstillMs: 500 });
  const ids = new Set<string>();
  await vi.waitFor(
    async () => {
      for (const message of await buffer.fetch(10)) {
        for (const { id } of message.leads()) ids.add(id);
        message.acknowledge();
      }
      expect((await stateOf()).messages).toBe(0);
    },
    { timeout: 60_000 },
  );
  expect(ids).toEqual(new Set(leads.map(({ id }) => id)));
});

test('fails at once without the broker, and delivers all stored leads after its restart', async () => {
  const buffer = open();
  const leads = Array.from({ length: 20 }, () => lead());
  for (const each of leads) await buffer.put([each]);
  const [held] = await buffer.fetch(1);
  await nats.kill();
  await vi.waitFor(() => expect(buffer.isConnected).toBe(false), 30_000);
  for (const call of [() => buffer.put([lead()]), () => buffer.fetch(1)]) {
    const refused = Promise.race([call(), setImmediate('waits')]);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  }
  nats = await startNats({ binary, dataDir: directory, port: nats.port });
  await vi.waitFor(() => expect(buffer.isConnected).toBe(true), 30_000);
  const ids = new Set(held?.leads().map(({ id }) => id));
  await vi.waitFor(
    async () => {
      for (const message of await buffer.fetch(20)) {
        for (const { id } of message.leads()) ids.add(id);
        message.acknowledge();
      }
      expect(ids).toEqual(new Set(leads.map(({ id }) => id)));
    },
    { timeout: 60_000 },
  );
});
