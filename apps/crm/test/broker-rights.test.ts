import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Broker, createErasableBuffer, createErasableEvents, ErasureStream } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCrm } from './crm.ts';
import { leadsApi } from './leads-api.ts';

const shippedPath = join(import.meta.dirname, '../../../docker/nats-server.conf');
const directory = mkdtempSync(join(tmpdir(), 'leads-nats-'));
const users = ['crm', 'intake', 'reader', 'operator'] as const;
type User = (typeof users)[number];

let nats: LocalNats;

/** Returns the shipped configuration without its ports, and with the test's own data directory. */
function shippedSettings(): string {
  const text = readFileSync(shippedPath, 'utf8');
  const replacements = {
    '^listen: .*$': '',
    '^http: .*$': '',
    '(?<=store_dir: ).*$': `"${directory}/streams"`,
  };
  return Object.entries(replacements).reduce((settings, [pattern, replacement]) => {
    expect(settings).toMatch(new RegExp(pattern, 'm'));
    return settings.replace(new RegExp(pattern, 'm'), replacement);
  }, text);
}

beforeAll(async () => {
  // Quoted as in compose.yaml. Without quotes, NATS reads a password that begins with a digit as a number.
  for (const user of users) vi.stubEnv(`NATS_${user.toUpperCase()}_PASSWORD`, `"1-${user}"`);
  const options = { binary: await findNatsServer(), dataDir: directory };
  try {
    nats = await startNats({ ...options, settings: shippedSettings() });
  } catch (error) {
    // The nats-server of Debian is too old for sync_interval. All other settings still apply.
    if (!(error as Error).message.includes('unknown field "sync_interval"')) throw error;
    nats = await startNats({ ...options, settings: shippedSettings().replace('sync_interval: always', '') });
  }
});

afterAll(async () => {
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

const urlOf = (user: User) => nats.url.replace('//', `//${user}:1-${user}@`);

async function connectAs(user: User): Promise<Broker> {
  const broker = new Broker({ url: urlOf(user), name: `test-${user}` });
  expect(await broker.connected(5_000), `${user} is connected`).toBe(true);
  return broker;
}

test('with its permissions, the CRM creates the stream and publishes events, and the reader consumes them', async () => {
  await using crm = await startCrm({ NATS_URL: urlOf('crm') });
  const { owner } = await crm.fixture.createWorkspace();
  const lead = { name: 'Ada Lovelace', phone: '+1 202 555 0143' };
  const { status } = await leadsApi(crm.service).create(owner, lead);
  expect(status).toBe(200);

  await using reader = await connectAs('reader');
  const stream = async () => (await reader.manager()).streams.info('LEADS').catch(() => undefined);
  await vi.waitFor(async () => expect((await stream())?.state.messages).toBe(1), { timeout: 30_000 });
  const consumer = await reader.jetStream.consumers.get('LEADS');
  const message = await consumer.next({ expires: 5_000 });
  expect(message?.json()).toMatchObject({ type: 'lead.created', data: { lead: { name: lead.name } } });

  const warnings = crm.service.logs.entries().filter(({ level }) => level === 'warn' || level === 40);
  expect(warnings.filter(({ msg }) => String(msg).includes('power cut'))).toHaveLength(1);
});

test('with its permissions, the intake buffers leads in its stream, consumes them, and stores a snapshot', async () => {
  await using intake = await connectAs('intake');
  const manager = await intake.manager();
  const stream = 'LEADS_BUFFER';
  await manager.streams.add({ name: stream, subjects: ['buffer.leads'] });
  await manager.streams.update(stream, { max_bytes: 1_000_000 });
  // The value of `AckPolicy.Explicit`. Only the core package may import its name.
  const { config } = await manager.consumers.add(stream, {
    durable_name: 'drainer',
    ack_policy: 'explicit' as never,
  });
  expect(config.ack_policy).toBe('explicit');
  await intake.publish([{ subject: 'buffer.leads', payload: 'leads', id: 'first' }]);
  const consumer = await intake.jetStream.consumers.get(stream, 'drainer');
  const message = await consumer.next({ expires: 5_000 });
  expect(message?.string()).toBe('leads');
  expect(await message?.ackAck()).toBe(true);
  expect(await manager.consumers.delete(stream, 'drainer')).toBe(true);

  const objects = await intake.jetStream.views.os('leads_intake', { ttl: 60_000_000_000 });
  for (const text of ['first', 'second']) {
    await objects.putBlob({ name: 'snapshot' }, Buffer.from(text));
    expect(Buffer.from((await objects.getBlob('snapshot')) ?? []).toString()).toBe(text);
  }
});

test('with its permissions, the operator erases leads from 2 streams and logs the erasure in a third', async () => {
  await using intake = await connectAs('intake');
  const lead = {
    id: randomUUID(),
    workspaceId: randomUUID(),
    createdAt: new Date().toISOString(),
    phone: '1',
  };
  const kept = { ...lead, id: randomUUID() };
  await intake.publish([{ subject: 'buffer.leads', payload: JSON.stringify([lead, kept]), id: 'second' }]);
  await using operator = await connectAs('operator');
  const stores = [createErasableBuffer(operator), createErasableEvents(operator)];
  const found = [];
  for (const store of stores) found.push(await store.visit(({ id }) => id !== kept.id, { erase: true }));
  expect(found.map(({ counts }) => counts)).toEqual([{ buffered: 1 }, { events: 1 }]);
  for (const store of stores) found.push(await store.visit(() => true, { erase: false }));
  expect(found.slice(2).map(({ counts }) => counts)).toEqual([{ buffered: 1 }, { events: 0 }]);
  const log = new ErasureStream(operator);
  const erasure = { id: randomUUID(), at: new Date(), keys: ['key'], seal: 'seal' };
  await log.write(erasure);
  expect(await log.read()).toEqual([erasure]);
});

test.each<[User, string[], string[]]>([
  [
    'operator',
    [
      'leads.0.lead.created',
      '$JS.API.STREAM.CREATE.LEADS',
      '$JS.API.STREAM.DELETE.LEADS',
      '$JS.API.STREAM.PURGE.LEADS',
      '$JS.API.STREAM.PURGE.LEADS_BUFFER',
      '$JS.API.STREAM.DELETE.LEADS_ERASED',
      '$JS.API.STREAM.MSG.DELETE.LEADS_ERASED',
      '$JS.API.CONSUMER.MSG.NEXT.LEADS_BUFFER.drainer',
      '$SYS.REQ.SERVER.PING',
    ],
    ['>', 'leads.>', 'buffer.>', 'erasure.log', '_INBOX.>', '_INBOX.crm.>', '$SYS.>'],
  ],
  [
    'crm',
    [
      'buffer.leads',
      '$JS.API.STREAM.DELETE.LEADS',
      '$JS.API.STREAM.PURGE.LEADS',
      '$JS.API.STREAM.MSG.DELETE.LEADS',
      '$JS.API.STREAM.CREATE.OTHER',
      '$JS.API.STREAM.INFO.LEADS_BUFFER',
      '$JS.API.CONSUMER.MSG.NEXT.LEADS_BUFFER.drainer',
      '$SYS.REQ.SERVER.PING',
    ],
    ['>', 'leads.>', 'buffer.>', '_INBOX.>', '_INBOX.intake.>', '$SYS.>'],
  ],
  [
    'intake',
    [
      'leads.0.lead.created',
      '$JS.API.STREAM.DELETE.LEADS_BUFFER',
      '$JS.API.STREAM.PURGE.LEADS_BUFFER',
      '$JS.API.STREAM.CREATE.LEADS',
      '$JS.API.STREAM.UPDATE.LEADS',
      '$JS.API.CONSUMER.CREATE.LEADS.other',
      '$SYS.REQ.SERVER.PING',
    ],
    ['>', 'leads.>', 'buffer.>', '_INBOX.>', '_INBOX.crm.>', '$SYS.>'],
  ],
  [
    'reader',
    [
      'leads.0.lead.created',
      'buffer.leads',
      'cache.invalidate',
      '$JS.API.STREAM.CREATE.LEADS',
      '$JS.API.STREAM.UPDATE.LEADS',
      '$JS.API.STREAM.DELETE.LEADS',
      '$JS.API.STREAM.PURGE.LEADS',
      '$JS.API.CONSUMER.CREATE.LEADS_BUFFER.other',
    ],
    ['>', 'leads.>', 'buffer.>', 'cache.invalidate', '_INBOX.>', '_INBOX.crm.>'],
  ],
])(
  'NATS rejects every publication and subscription that %s does not need',
  async (user, publications, subscriptions) => {
    await using broker = await connectAs(user);
    const { connection } = broker;
    const refused: string[] = [];
    void (async () => {
      for await (const { permissionContext } of connection.status()) {
        if (permissionContext !== undefined) {
          refused.push(`${permissionContext.operation} ${permissionContext.subject}`);
        }
      }
    })();
    for (const subject of publications) connection.publish(subject);
    for (const subject of subscriptions) connection.subscribe(subject, { callback: () => undefined });
    await connection.flush();
    const expected = [
      ...publications.map((subject) => `publish ${subject}`),
      ...subscriptions.map((subject) => `subscription ${subject}`),
    ];
    await vi.waitFor(() => expect(refused.toSorted()).toEqual(expected.toSorted()), { timeout: 30_000 });
  },
);

test('NATS rejects a connection without the correct password', async () => {
  for (const url of [nats.url, nats.url.replace('//', '//crm:wrong@')]) {
    await using broker = new Broker({ url, name: 'test-stranger' });
    expect(await broker.connected(500)).toBe(false);
  }
});
