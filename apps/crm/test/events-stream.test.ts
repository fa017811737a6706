import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Broker } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { afterAll, expect, test, vi } from 'vitest';
import { startCrm } from './crm.ts';
import { eventStreams, nameOf, names, testEventStreams } from './event-stream-suite.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'leads-events-'));
const binary = await findNatsServer();
let nats: LocalNats = await startNats({ binary, dataDir });
const { port: natsPort, url: NATS_URL } = nats;
const crm = await startCrm({ NATS_URL });
const { service, fixture } = crm;
const broker = new Broker({ url: NATS_URL, name: 'test' });
const manager = async () => {
  await broker.connected(60_000);
  return broker.manager();
};
const stateOf = async (subject?: string) => {
  const { streams } = await manager();
  return (await streams.info('LEADS', subject === undefined ? {} : { subjects_filter: subject })).state;
};
const consumers = async () => (await stateOf()).consumer_count;

afterAll(async () => {
  await broker[Symbol.asyncDispose]();
  await crm[Symbol.asyncDispose]();
  await nats[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

await testEventStreams(crm, {
  settings: { NATS_URL },
  async dropAllBut(count) {
    const { streams } = await manager();
    await streams.purge('LEADS', { seq: (await stateOf()).last_seq - count + 1 });
    return new Date((await stateOf()).first_ts);
  },
  async loseStream() {
    const { streams } = await manager();
    await streams.delete('LEADS');
  },
  countEvents: async (workspaceId) => (await stateOf(`leads.${workspaceId}.>`)).messages,
});

const { owner, follow, createAll } = await eventStreams(crm);

test('an event stream continues after a crash of the broker without a gap or a repeat', async () => {
  const stream = await follow();
  await createAll(names(3, 'before'));
  await stream.received(3);
  await nats.kill();
  await createAll(names(3, 'meanwhile'));
  const refused = await service.send({ path: '/api/v1/events', headers: { ...owner.headers } });
  expect(refused.status).toBe(503);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  nats = await startNats({ binary, dataDir, port: natsPort });
  await createAll(names(3, 'after'));
  const expected = ['before', 'meanwhile', 'after'].flatMap((prefix) => names(3, prefix));
  expect((await stream.received(9, 40_000)).map(nameOf)).toEqual(expected);
});
test('an event stream reads a bounded amount ahead of a slow client', async () => {
  const { streams } = await manager();
  const messageCount = async () => (await streams.info('LEADS')).state.messages;
  const { consumers: all } = await manager();
  // The broker lists a consumer as null that is deleted meanwhile.
  const listed = async () => {
    const page: (Awaited<ReturnType<ReturnType<typeof all.list>['next']>>[number] | null)[] = await all
      .list('LEADS')
      .next();
    return page.filter((each) => each !== null);
  };
  // Consumers of earlier tests may still exist.
  const before = new Set((await listed()).map(({ name }) => name));
  // Events of earlier tests may still be published, so this test has a workspace of its own.
  const own = await fixture.createWorkspace();
  const member = own.owner;
  const stream = await follow({ member });
  stream.pause();
  const messagesBefore = await messageCount();
  const large = 'x'.repeat(40_000);
  // Requests to create them may take longer than the minute after which a client that reads nothing is disconnected.
  for (const name of names(400)) await fixture.leads.insert([own.lead(member, { name, description: large })]);
  const delivered = async () => {
    const info = (await listed()).find(({ name }) => !before.has(name));
    return info?.delivered.consumer_seq ?? 0;
  };
  await vi.waitFor(async () => expect(await delivered()).toBeGreaterThan(0), 60_000);
  // Counts the messages of the stream, since a consumer's count of pending messages drifts in older brokers.
  await vi.waitFor(
    async () => expect(await messageCount()).toBeGreaterThanOrEqual(messagesBefore + 400),
    60_000,
  );
  // Of 16 MB of events, the service reads 2 MiB ahead, and the sockets buffer some.
  expect(await delivered()).toBeLessThan(400);
  stream.resume();
  expect((await stream.received(400)).map(nameOf)).toEqual(names(400));
});

test('an event stream has a consumer, which is deleted when the client disconnects', async () => {
  await vi.waitFor(async () => expect(await consumers()).toBe(0), 60_000);
  const counted = async () =>
    /^lead_event_streams (\d+)$/m.exec((await service.send({ path: '/metrics' })).text)?.[1];
  const streams = await Promise.all(names(3).map(() => follow()));
  await vi.waitFor(async () => expect(await consumers()).toBe(3), 60_000);
  expect(await counted()).toBe('3');
  for (const stream of streams) stream.close();
  await vi.waitFor(async () => expect(await consumers()).toBe(0), 60_000);
  expect(await counted()).toBe('0');
});
