import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeadEvent } from '@leads/core/event';
import type { LeadDetail } from '@leads/core/lead';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type Fixture, jwtSecret, openFixture, type TestWorkspace } from '@leads/test-kit/fixture';
import type { RunningService } from '@leads/test-kit/running-service';
import { readStream } from '@leads/test-kit/stream';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { startCrmService } from './crm.ts';
import { openEvents } from './event-client.ts';
import { leadsApi } from './leads-api.ts';

const binary = await findNatsServer();
const soon = { interval: 50 };
const directory = mkdtempSync(join(tmpdir(), 'leads-events-'));

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let fixture: Fixture;
let workspace: TestWorkspace;
let natsCount = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = openFixture(database.url, await createAccessTokenCodec(jwtSecret));
  workspace = await fixture.createWorkspace();
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => fixture.sql('TRUNCATE lead_outbox, lead_event_log, lead_event_log_state'));

/** Starts a broker for the current test. */
async function broker(): Promise<LocalNats> {
  const nats = await startNats({ binary, dataDir: join(directory, String((natsCount += 1))) });
  onTestFinished(() => nats.kill());
  return nats;
}

async function crm(settings: Record<string, string> = {}): Promise<RunningService> {
  const service = await startCrmService(database.url, settings);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const publishedEvents = async (nats: LocalNats) =>
  (await readStream(nats.url, 'LEADS')).map(({ data }) => data as LeadEvent);
/** The events that are not published to NATS: those in the outbox, and those that an instance without NATS_URL logged. */
const countUnpublished = async () =>
  (
    await fixture.sql<{ events: number }>(
      `SELECT coalesce(sum(cardinality(lead_ids)), 0)::int AS events
       FROM (SELECT lead_ids FROM lead_outbox UNION ALL SELECT lead_ids FROM lead_event_log) AS kept`,
    )
  )[0]?.events;
const leads = (count: number) =>
  Array.from({ length: count }, (_, n) => workspace.lead(workspace.owner, { name: `Lead ${n}` }));

describe('events', () => {
  test('show each version of a lead as it was, even if they are published late', async () => {
    const { owner } = workspace;
    const service = await crm();
    const api = leadsApi(service);
    const first = {
      name: 'Ada',
      phone: '020 7946 0958',
      country: 'GB',
      email: 'ada@example.io',
      utm: { a: 1 },
    };
    const created = (await api.create(owner, first)).json<{ lead: { id: string } }>();
    const { id } = created.lead;
    const versions: LeadDetail[] = [await api.get(owner, id)];
    for (const change of [
      { name: 'Ada Lovelace', city: 'London', more: [1, 2] },
      { phone: '030 901820', country: 'DE' },
      { status: 'Approved' },
      { city: '', utm: 'b', status: 'Trashed', reason: 'No answer' },
      { status: 'OnHold', email: 'ada.l@example.io' },
    ]) {
      expect((await api.edit(owner, id, change)).status).toBe(200);
      versions.push(await api.get(owner, id));
    }
    const history = await api.history(owner, id);
    expect(await countUnpublished()).toBe(6);

    const nats = await broker();
    await crm({ NATS_URL: nats.url });
    await expect.poll(() => publishedEvents(nats), soon).toHaveLength(6);
    const events = await publishedEvents(nats);
    expect(events.map(({ data }) => data.lead)).toEqual(versions);
    expect(events.map(({ data }) => data.change)).toEqual(history);
    expect(events.map(({ id: eventId }) => eventId)).toEqual(
      versions.map(({ version }) => `${id}.${version}`),
    );
    expect(events.map(({ type }) => type)).toEqual([
      'lead.created',
      'lead.updated',
      'lead.updated',
      'lead.status_changed',
      'lead.status_changed',
      'lead.status_changed',
    ]);
    const messages = await readStream(nats.url, 'LEADS');
    expect(messages.map(({ subject }) => subject)).toEqual(
      events.map(({ type }) => `leads.${workspace.id}.${type}`),
    );

    for (const event of events) {
      expect(Value.Errors(LeadEvent, event)).toEqual([]);
      expect(event).toMatchObject({ source: `/workspaces/${workspace.id}`, subject: id });
    }
    await expect.poll(countUnpublished, soon).toBe(0);
  });

  test('are stored in the outbox with their leads or not at all', async () => {
    const [good, bad] = [leads(2), leads(2)];
    await fixture.leads.insert(good);
    await expect(
      fixture.leads.insert([...bad, workspace.lead(workspace.owner, { phoneE164: 'no number' })]),
    ).rejects.toThrow('23514');
    // Leads that exist already create no further events.
    await fixture.leads.insert(good);
    const rows = await fixture.sql<{ ids: string[]; versions: number[] }>(
      'SELECT lead_ids::text[] AS ids, versions FROM lead_outbox',
    );
    expect(rows.map(({ ids, versions }) => [ids.toSorted(), versions])).toEqual([
      [good.map(({ id }) => id).toSorted(), [1, 1]],
    ]);
  });

  test('wait in the outbox while the broker is unavailable, also if it never was available', async () => {
    const nats = await broker();
    const { url, port } = nats;
    const service = await crm({ NATS_URL: url });
    await fixture.leads.insert(leads(3));
    await expect.poll(() => publishedEvents(nats), soon).toHaveLength(3);
    await nats.kill();
    await fixture.leads.insert(leads(3));
    const other = await crm({ NATS_URL: url });
    await expect
      .poll(
        () => other.logs.entries().filter(({ msg }) => String(msg).startsWith('NATS is unavailable')),
        soon,
      )
      .toHaveLength(1);
    expect(await countUnpublished()).toBe(3);
    // Requests still succeed.
    expect(
      (await leadsApi(service).create(workspace.owner, { name: 'Ada', phone: '1', email: 'a@b.io' })).status,
    ).toBe(200);

    const again = await startNats({ binary, dataDir: join(directory, String(natsCount)), port });
    onTestFinished(() => again.kill());
    await expect.poll(() => publishedEvents(again), soon).toHaveLength(7);
    await expect.poll(countUnpublished, soon).toBe(0);
  });

  test('are all published in order by 2 relays while the broker is killed repeatedly', async () => {
    const nats = await broker();
    const service = await crm({ NATS_URL: nats.url });
    await crm({ NATS_URL: nats.url });
    const api = leadsApi(service);
    const ids: string[] = [];
    let isKilling = true;
    const killing = (async () => {
      let running = nats;
      for (let kills = 0; kills < 4; kills++) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await running.kill();
        running = await startNats({ binary, dataDir: join(directory, String(natsCount)), port: nats.port });
      }
      onTestFinished(() => running.kill());
    })().finally(() => (isKilling = false));
    while (isKilling) {
      const batch = leads(20);
      await fixture.leads.insert(batch);
      ids.push(...batch.map(({ id }) => id));
      const answers = await Promise.all(
        batch.flatMap(({ id }) => [
          api.edit(workspace.owner, id, { city: 'London' }),
          api.edit(workspace.owner, id, { status: 'Approved' }),
        ]),
      );
      expect(
        answers.filter(({ status }) => status !== 200 && status !== 409).map(({ text }) => text),
      ).toEqual([]);
    }
    await killing;
    await expect.poll(countUnpublished, soon).toBe(0);

    const versions = new Map<string, number[]>();
    const seen = new Set<string>();
    for (const { id, subject } of await publishedEvents(nats)) {
      if (seen.has(id)) continue;
      seen.add(id);
      versions.set(subject, [...(versions.get(subject) ?? []), Number(id.split('.')[1])]);
    }
    const rows = await fixture.sql<{ id: string; version: number }>(
      'SELECT id, version FROM lead WHERE id = ANY($1)',
      [ids],
    );
    expect(rows).toHaveLength(ids.length);
    expect(new Map(rows.map(({ id }) => [id, versions.get(id)]))).toEqual(
      new Map(rows.map(({ id, version }) => [id, Array.from({ length: version }, (_, n) => n + 1)])),
    );
  });

  test('of 1 statement with 3,500 leads are published in parts', async () => {
    const many = leads(3_500);
    await fixture.leads.insert(many);
    expect(await fixture.sql('SELECT id FROM lead_outbox')).toHaveLength(1);
    const nats = await broker();
    await crm({ NATS_URL: nats.url });
    await expect.poll(countUnpublished, soon).toBe(0);
    const events = await publishedEvents(nats);
    expect(new Set(events.map(({ subject }) => subject))).toEqual(new Set(many.map(({ id }) => id)));
    expect(events).toHaveLength(many.length);
  });

  test('that exceed the largest message of NATS are published with cut texts, and later events follow', async () => {
    const { owner } = workspace;
    const long = '\\'.repeat(64 * 1024);
    const texts = { address: long, city: long, street: long, zipcode: long, state: long, description: long };
    const large = workspace.lead(owner, {
      ...texts,
      name: `x${'😀'.repeat(32 * 1024)}`,
      region: long,
      website: long,
      extra: JSON.stringify({ a: long.slice(0, 1024) }),
    });
    const small = workspace.lead(owner);
    await fixture.leads.insert([large]);
    const nats = await broker();
    const service = await crm({ NATS_URL: nats.url });
    await expect.poll(() => publishedEvents(nats), soon).toHaveLength(1);
    const edited = await leadsApi(service).edit(owner, large.id, { region: 'y'.repeat(1024), extra2: 'z' });
    expect(edited.status).toBe(200);
    await fixture.leads.insert([small]);
    await expect.poll(countUnpublished, soon).toBe(0);

    const events = await publishedEvents(nats);
    expect(events.map(({ id }) => id)).toEqual([`${large.id}.1`, `${large.id}.2`, `${small.id}.1`]);
    for (const event of events) expect(Value.Errors(LeadEvent, event)).toEqual([]);
    const cut = long.slice(0, 256);
    const cutLead = {
      ...Object.fromEntries(Object.keys(texts).map((field) => [field, cut])),
      id: large.id,
      name: `x${'😀'.repeat(127)}\ufffd`,
      phone: large.phone,
      website: cut,
      extra: {},
    };
    expect(events.map(({ data }) => data)).toMatchObject([
      { truncated: true, lead: { ...cutLead, region: cut }, change: { type: 'created', to: 'OnHold' } },
      {
        truncated: true,
        lead: { ...cutLead, region: 'y'.repeat(256) },
        change: { type: 'updated', fields: { region: { from: cut, to: 'y'.repeat(256) }, extra: {} } },
      },
      { lead: { id: small.id, name: small.name } },
    ]);
    expect(events[2]?.data).not.toHaveProperty('truncated');
    const stream = await openEvents(service.port, owner.headers, '?since=2026-01-01T00:00:00Z');
    onTestFinished(() => stream.close());
    expect(await stream.received(3)).toEqual(events);
  });

  test('are kept in the log for their retention if NATS_URL is not set', async () => {
    const service = await crm({ EVENTS_STREAM_DAYS: '2' });
    const logged = async () => (await fixture.sql('SELECT FROM lead_event_log')).length;
    await fixture.leads.insert(leads(2));
    await expect.poll(logged, soon).toBe(1);
    await fixture.sql(`UPDATE lead_event_log SET published_at = now() - interval '49 hours'`);
    await fixture.leads.insert(leads(3));
    await expect.poll(countUnpublished, soon).toBe(3);
    const { owner } = workspace;
    const request = { path: '/api/v1/events?since=2026-01-01', headers: { ...owner.headers } };
    expect((await service.send(request)).status).toBe(410);
  });
});
