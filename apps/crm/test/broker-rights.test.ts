import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeadToInsert } from '@leads/core/lead';
import {
  Broker,
  bufferStreamName,
  createErasableBuffer,
  createErasableEvents,
  ErasureStream,
  EventPublisher,
  LeadBuffer,
  NatsSnapshotStore,
} from '@leads/core/nats';
import { type ShippedNats, startShippedNats } from '@leads/test-kit/shipped-nats';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runLeads } from './command-line.ts';
import { startCrm } from './crm.ts';
import { leadsApi } from './leads-api.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-nats-'));
const megabyte = 1024 * 1024;
const passwords = ['crm', 'intake', 'reader', 'operator'] as const;
type User = (typeof passwords)[number] | 'intake-operator';

let nats: ShippedNats;

beforeAll(async () => {
  // Quoted as by create-secrets. Without quotes, NATS reads a password that begins with a digit as a number.
  const lines = passwords.map((user) => `NATS_${user.toUpperCase()}_PASSWORD: "1-${user}"\n`);
  const passwordsPath = join(directory, 'passwords');
  writeFileSync(passwordsPath, lines.join(''));
  nats = await startShippedNats({ dataDir: join(directory, 'nats'), passwords: passwordsPath });
});

afterAll(async () => {
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
});

const urlOf = (user: User) => nats.url.replace('//', `//${user}:1-${user.replace('intake-', '')}@`);
const operatorSettings = () => ({ NATS_URL: urlOf('operator'), NATS_INTAKE_URL: urlOf('intake-operator') });

async function connectAs(user: User): Promise<Broker> {
  const broker = new Broker({ url: urlOf(user), name: `test-${user}` });
  expect(await broker.connected(60_000), `${user} is connected`).toBe(true);
  return broker;
}

test('the CRM does not create its stream, and publishes events after `leads nats setup` for the reader', async () => {
  await using crm = await startCrm({ NATS_URL: urlOf('crm') });
  const { owner } = await crm.fixture.createWorkspace();
  const lead = { name: 'Ada Lovelace', phone: '+1 202 555 0143' };
  const { status } = await leadsApi(crm.service).create(owner, lead);
  expect(status).toBe(200);
  await vi.waitFor(
    () => {
      const logged = JSON.stringify(crm.service.logs.entries());
      expect(logged).toContain('The stream LEADS does not exist, and this NATS user may not create it');
    },
    { timeout: 60_000 },
  );

  const setup = await runLeads(['nats', 'setup'], operatorSettings());
  expect(setup).toEqual({
    code: 0,
    stdout: 'The streams LEADS and LEADS_BUFFER are ready. Consumers of events: reader.\n',
    stderr: '',
  });

  await using reader = await connectAs('reader');
  const consumer = await reader.jetStream.consumers.get('LEADS', 'reader');
  const message = await consumer.next({ expires: 30_000 });
  expect(message?.json()).toMatchObject({ type: 'lead.created', data: { lead: { name: lead.name } } });
  expect(await message?.ackAck()).toBe(true);

  const warnings = crm.service.logs.entries().filter(({ level }) => level === 'warn' || level === 40);
  expect(warnings.filter(({ msg }) => String(msg).includes('power cut'))).toHaveLength(1);
});

test('`leads nats setup` updates the limits of existing streams, which a service only reports', async () => {
  const limits = async () => {
    await using operator = await connectAs('operator');
    const { config } = await (await operator.manager()).streams.info('LEADS');
    return config.max_bytes;
  };
  const event = { subject: 'a-lead', source: '/workspaces/w', type: 'lead.created', id: 'a-lead_1' } as never;
  const other = { name: 'LEADS', maxAgeMs: 86_400_000, maxBytes: 2 * megabyte, replicas: 1 };
  await using crm = await connectAs('crm');
  const onOtherLimits = vi.fn<() => void>();
  const publisher = new EventPublisher(crm, other, onOtherLimits);
  await publisher.publish([event]);
  expect([await limits(), onOtherLimits.mock.calls.length]).toEqual([1024 * megabyte, 1]);

  const { code } = await runLeads(['nats', 'setup', '--consumer', 'reader', '--consumer', 'other'], {
    ...operatorSettings(),
    EVENTS_STREAM_DAYS: '1',
    EVENTS_STREAM_MEGABYTES: '2',
  });
  expect([code, await limits()]).toEqual([0, 2 * megabyte]);
  const { streams, consumers } = await crm.manager();
  expect((await streams.info('LEADS')).state.consumer_count).toBe(2);
  expect((await consumers.info('LEADS', 'other')).config.deliver_subject).toBeUndefined();
  await runLeads(['nats', 'setup'], operatorSettings());
});

test('a user without the permissions of an operator cannot run `leads nats setup`', async () => {
  const settings = { NATS_URL: urlOf('crm'), EVENTS_STREAM_MEGABYTES: '3' };
  const { code, stderr } = await runLeads(['nats', 'setup'], settings);
  expect([code, stderr]).toEqual([
    1,
    `error: NATS at 127.0.0.1:${nats.port} rejected the setup: This NATS user may not change the stream LEADS\n`,
  ]);
  expect(await runLeads(['nats', 'setup', '--consumer', 'a.b'], settings)).toMatchObject({ code: 2 });
  expect(await runLeads(['nats', 'setup'], {})).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('NATS_URL is required'),
  });
});

const createdAt = new Date();
const bufferedLead = (): LeadToInsert => ({
  id: randomUUID(),
  workspaceId: randomUUID(),
  campaignId: randomUUID(),
  userId: randomUUID(),
  source: 'intake',
  status: 'OnHold',
  version: 1,
  name: 'Ada Lovelace',
  phone: '+1 202 555 0143',
  createdAt,
  updatedAt: createdAt,
});
const openBuffer = (broker: Broker) =>
  new LeadBuffer(
    broker,
    { name: bufferStreamName, maxBytes: 1024 * megabyte, replicas: 1 },
    { ackTimeoutMs: 60_000 },
  );

test('with its permissions, the intake buffers leads in its stream, consumes them, and stores a snapshot', async () => {
  await using intake = await connectAs('intake');
  const buffer = openBuffer(intake);
  const lead = bufferedLead();
  await buffer.put([lead]);
  const [message] = await buffer.fetch(1);
  expect(message?.leads()).toEqual([lead]);
  message?.acknowledge();
  await vi.waitFor(async () => expect((await buffer.waiting()).messages).toBe(0), { timeout: 60_000 });
  expect(await (await intake.manager()).consumers.delete(bufferStreamName, 'drainer')).toBe(true);

  const snapshots = new NatsSnapshotStore(intake, {
    replicas: 1,
    onError: (error) => {
      throw error;
    },
  });
  for (const at of [1, 2]) {
    const snapshot = { at, keys: [], campaigns: [], landingPages: [] };
    await snapshots.put(snapshot, (await snapshots.find())?.revision);
    expect(await snapshots.get()).toEqual(snapshot);
  }
});

test('the intake receives the broadcasts of the CRM and of the command line', async () => {
  await using intake = await connectAs('intake');
  const received: string[] = [];
  intake.subscribe('cache.invalidate', (text) => received.push(text));
  await intake.connection.flush();
  for (const user of ['crm', 'operator'] as const) {
    await using sender = await connectAs(user);
    await sender.broadcast('cache.invalidate', `"by ${user}"`);
  }
  await vi.waitFor(() => expect(received).toEqual(['"by crm"', '"by operator"']), { timeout: 60_000 });
});

test('`leads erase` erases a buffered lead as the user of NATS_INTAKE_URL', async () => {
  await using crm = await startCrm({});
  await using intake = await connectAs('intake');
  const lead = bufferedLead();
  await openBuffer(intake).put([lead]);
  const settings = { DATABASE_URL: crm.databaseUrl, ERASURE_SECRET: 'x'.repeat(32), ...operatorSettings() };
  const { stdout, stderr } = await runLeads(['erase', '--id', lead.id, '--yes', '--json'], settings);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ erased: { buffered: 1, events: 0 } });
});

test('with its permissions, the operator erases leads from 2 streams and logs the erasure in a third', async () => {
  await using intake = await connectAs('intake');
  const [erased, kept] = [bufferedLead(), bufferedLead()];
  await openBuffer(intake).put([erased, kept]);
  await using operator = await connectAs('operator');
  await using intakeOperator = await connectAs('intake-operator');
  const stores = [createErasableBuffer(intakeOperator), createErasableEvents(operator)];
  const found = [];
  for (const store of stores) found.push(await store.visit(({ id }) => id !== kept.id, { erase: true }));
  expect(found.map(({ counts }) => counts)).toEqual([{ buffered: 1 }, { events: 1 }]);
  for (const store of stores) found.push(await store.visit(() => true, { erase: false }));
  expect(found.slice(2).map(({ counts }) => counts)).toEqual([{ buffered: 1 }, { events: 0 }]);
  const log = new ErasureStream(operator);
  const erasure = { id: randomUUID(), at: new Date(), keys: ['key'], seal: 'seal' };
  await log.write(erasure);
  expect(await log.read()).toContainEqual(erasure);
});

const forbidden = { code: 'PERMISSIONS_VIOLATION' };
const eventSubject = 'leads.00000000-0000-7000-8000-000000000000.lead.created';
/** An event as the CRM would publish it. */
const forgedEvent = JSON.stringify({ specversion: '1.0', type: 'lead.created', subject: randomUUID() });

/** Returns the number of events that were ever stored. */
async function lastEvent(): Promise<number> {
  await using operator = await connectAs('operator');
  return (await (await operator.manager()).streams.info('LEADS')).state.last_seq;
}

test("the intake's user cannot make a stream that copies events, by no stream that it knows", async () => {
  await using intake = await connectAs('intake');
  const { streams } = await intake.manager();
  const sources = [{ name: 'LEADS' }];
  for (const name of [bufferStreamName, 'OBJ_leads_intake']) {
    await expect(streams.update(name, { sources }), name).rejects.toMatchObject(forbidden);
  }
  for (const name of [bufferStreamName, 'OBJ_leads_intake', 'OBJ_other', 'LEADS', 'COPY']) {
    await expect(streams.add({ name, sources }), name).rejects.toMatchObject(forbidden);
    await expect(streams.add({ name, mirror: { name: 'LEADS' } }), name).rejects.toMatchObject(forbidden);
  }
  await expect(streams.info('LEADS')).rejects.toMatchObject(forbidden);
});

test("the intake's user cannot forge events by republishing, by a consumer, or by the reply to a request", async () => {
  await using intake = await connectAs('intake');
  const { streams, consumers } = await intake.manager();
  const before = await lastEvent();
  const republish = { src: '>', dest: eventSubject };
  await expect(streams.update(bufferStreamName, { republish })).rejects.toMatchObject(forbidden);
  await expect(streams.update('OBJ_leads_intake', { republish })).rejects.toMatchObject(forbidden);

  const { connection } = intake;
  connection.publish(eventSubject, forgedEvent);
  connection.publish('$O.leads_intake.C.forged', forgedEvent);
  // The values of `AckPolicy.None` and `DeliverPolicy.All`. Only the core package may import their names.
  const settings = {
    ack_policy: 'none' as never,
    deliver_policy: 'all' as never,
    filter_subject: '$O.leads_intake.C.forged',
  };
  await consumers.add('OBJ_leads_intake', { ...settings, deliver_subject: eventSubject });
  const { name } = await consumers.add('OBJ_leads_intake', { ...settings, durable_name: 'pull' });
  const next = `$JS.API.CONSUMER.MSG.NEXT.OBJ_leads_intake.${name}`;
  connection.publish(next, '', { reply: eventSubject });
  connection.publish('buffer.leads', forgedEvent, { reply: eventSubject });
  // The same consumer delivers to an allowed subject, after the deliveries above.
  const inbox = '_INBOX.intake.control';
  const delivered = new Promise((resolve) => {
    connection.subscribe(inbox, { callback: (_error, message) => resolve(message.string()) });
  });
  await consumers.add('OBJ_leads_intake', { ...settings, deliver_subject: inbox });
  expect(await delivered).toBe(forgedEvent);
  expect(await lastEvent()).toBe(before);
});

test("the reader's user cannot deliver into cache.invalidate by a consumer, a reply or a publication", async () => {
  await using crm = await connectAs('crm');
  const received: string[] = [];
  crm.subscribe('cache.invalidate', (text) => received.push(text));
  await crm.publish(
    ['1', '2'].map((id) => ({ subject: eventSubject, payload: forgedEvent, id: `own-${id}` })),
  );

  await using reader = await connectAs('reader');
  const { consumers } = await reader.manager();
  for (const name of [undefined, 'reader', 'own']) {
    const settings = { ...(name && { durable_name: name }), deliver_subject: 'cache.invalidate' };
    await expect(consumers.add('LEADS', settings), name).rejects.toMatchObject(forbidden);
  }
  reader.connection.publish('cache.invalidate', '"by the reader"');
  reader.connection.publish('$JS.API.CONSUMER.MSG.NEXT.LEADS.reader', '', { reply: 'cache.invalidate' });
  const consumer = await reader.jetStream.consumers.get('LEADS', 'reader');
  expect(await consumer.next({ expires: 30_000 })).not.toBeNull();
  await crm.broadcast('cache.invalidate', '"by the CRM"');
  await vi.waitFor(() => expect(received).toContain('"by the CRM"'), { timeout: 60_000 });
  expect(received).toEqual(['"by the CRM"']);
});

test.each<[User, string[], string[]]>([
  [
    'operator',
    [
      'leads.0.lead.created',
      'buffer.leads',
      '$JS.API.STREAM.CREATE.OTHER',
      '$JS.API.STREAM.DELETE.LEADS',
      '$JS.API.STREAM.PURGE.LEADS',
      '$JS.API.STREAM.DELETE.LEADS_ERASED',
      '$JS.API.STREAM.MSG.DELETE.LEADS_ERASED',
      '$SYS.REQ.SERVER.PING',
    ],
    ['>', 'leads.>', 'buffer.>', 'erasure.log', '_INBOX.>', '_INBOX.crm.>', '$SYS.>'],
  ],
  [
    'intake-operator',
    [
      'leads.0.lead.created',
      'cache.invalidate',
      '$JS.API.STREAM.CREATE.OTHER',
      '$JS.API.STREAM.DELETE.LEADS_BUFFER',
      '$JS.API.STREAM.PURGE.LEADS_BUFFER',
      '$JS.API.CONSUMER.MSG.NEXT.LEADS_BUFFER.drainer',
      '$SYS.REQ.SERVER.PING',
    ],
    ['>', 'leads.>', 'buffer.>', 'cache.invalidate', '_INBOX.>', '_INBOX.intake.>', '$SYS.>'],
  ],
  [
    'crm',
    [
      'buffer.leads',
      '$JS.API.STREAM.CREATE.LEADS',
      '$JS.API.STREAM.UPDATE.LEADS',
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
      'cache.invalidate',
      '$JS.API.STREAM.CREATE.LEADS_BUFFER',
      '$JS.API.STREAM.UPDATE.LEADS_BUFFER',
      '$JS.API.STREAM.CREATE.OBJ_leads_intake',
      '$JS.API.STREAM.UPDATE.OBJ_leads_intake',
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
      '$JS.API.CONSUMER.CREATE.LEADS',
      '$JS.API.CONSUMER.CREATE.LEADS.other',
      '$JS.API.CONSUMER.CREATE.LEADS_BUFFER.other',
      '$JS.API.CONSUMER.DELETE.LEADS.reader',
      '$JS.API.CONSUMER.MSG.NEXT.LEADS.other',
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
    await vi.waitFor(() => expect(refused.toSorted()).toEqual(expected.toSorted()), { timeout: 60_000 });
  },
);

test('NATS rejects a connection without the correct password', async () => {
  for (const url of [nats.url, nats.url.replace('//', '//crm:wrong@')]) {
    await using broker = new Broker({ url, name: 'test-stranger' });
    expect(await broker.connected(500)).toBe(false);
  }
});
