import { type Fixture, jwtSecret, openFixture } from '@leads/test-kit/fixture';
import type { RunningService } from '@leads/test-kit/running-service';
import { createServiceRoles, runAs, type ServiceRoles } from '@leads/test-kit/service-roles';
import { createTestDatabase, type TestDatabase } from '@leads/test-kit/test-database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { startCrmService } from './crm.ts';
import { openEvents } from './event-client.ts';
import { leadsApi, leadsPath } from './leads-api.ts';
import { signInAs, Visitor } from './visitor.ts';

let database: TestDatabase;
let roles: ServiceRoles;
let fixture: Fixture;
let service: RunningService;

beforeAll(async () => {
  database = await createTestDatabase();
  roles = await createServiceRoles(database.url);
  fixture = openFixture(database.url, await createAccessTokenCodec(jwtSecret));
  service = await startCrmService(roles.crm);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await roles[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const phone = '+1 202 555 0143';

test('the CRM serves its public API with the permissions of its database role', async () => {
  const workspace = await fixture.createWorkspace();
  const { owner } = workspace;
  const api = leadsApi(service);
  const created = await api.create(owner, { name: 'Ada', phone }, { 'Idempotency-Key': 'once' });
  expect(created.status).toBe(200);
  const { id } = created.json<{ lead: { id: string } }>().lead;
  const again = await api.create(owner, { name: 'Ada', phone }, { 'Idempotency-Key': 'once' });
  expect(again.json()).toMatchObject({ lead: { id } });

  expect((await api.edit(owner, id, { city: 'Paris' })).status).toBe(200);
  expect((await api.changeStatuses(owner, [id], 'Approved')).status).toBe(200);
  expect((await api.get(owner, id)).status).toBe('Approved');
  expect(await api.history(owner, id)).toHaveLength(3);
  // Without NATS, the events are in the database.
  const stream = await openEvents(service.port, owner.headers, '?since=2026-01-01');
  expect((await stream.received(3)).map((event) => event.id)).toEqual([`${id}.1`, `${id}.2`, `${id}.3`]);
  stream.close();
  expect((await api.list(owner, { count: 'exact' })).totalCount).toBe(1);
  const searches: Record<string, string>[] = [
    { q: 'ada' },
    { phone },
    { campaignCode: 'DEMO' },
    { sort: '-updatedAt', q: 'ada' },
    { status: 'Approved' },
  ];
  for (const query of searches)
    expect([query, (await api.list(owner, query)).leads]).toMatchObject([query, [{ id }]]);

  const assign = async (path: string, body: object) =>
    (
      await service.send({
        method: 'POST',
        path: `${leadsPath}/assignment${path}`,
        headers: { ...owner.headers },
        body,
      })
    ).json<{ changed: number; changeId: string }>();
  const { changeId } = await assign('', { ids: [id], assigneeId: owner.userId });
  expect(await assign('/undo', { changeId })).toMatchObject({ changed: 1 });

  const duplicateWindow = { duplicateWindowSeconds: 3600 };
  const changed = await service.send({
    method: 'PATCH',
    path: `/api/v1/campaigns/${workspace.demoCampaignId}`,
    headers: { ...owner.headers },
    body: duplicateWindow,
  });
  expect(changed.json()).toMatchObject({ campaign: duplicateWindow });
  const duplicate = (await api.create(owner, { name: 'Eve', phone })).json<{ lead: { id: string } }>();
  expect(await api.get(owner, duplicate.lead.id)).toMatchObject({ status: 'Trashed', duplicateOf: id });

  const imported = await service.send({
    method: 'POST',
    path: `${leadsPath}/import?campaignCode=default`,
    headers: { ...owner.headers, 'Content-Type': 'text/csv' },
    body: `name,phone\nGrace,${phone}\nBarbara,${phone}\n`,
  });
  expect(imported.json()).toMatchObject({ accepted: 2 });
  const exported = await api.send(owner, 'GET', '', { headers: { Accept: 'application/x-ndjson' } });
  expect(exported.text.trim().split('\n')).toHaveLength(4);

  const page = await service.send({
    method: 'POST',
    path: '/api/v1/landing-pages',
    headers: { ...owner.headers },
    body: { name: 'spring', campaignCode: 'DEMO' },
  });
  expect(page.status).toBeLessThan(300);
  const pages = await service.send({ path: '/api/v1/landing-pages', headers: { ...owner.headers } });
  expect(pages.json()).toMatchObject([{ name: 'spring', leads: 0 }]);

  // The aggregator adds up lead counts in the background.
  await vi.waitFor(async () => expect(await fixture.sql('SELECT FROM lead_tally_entry')).toHaveLength(0), {
    timeout: 60_000,
    interval: 100,
  });
});

test('the CRM serves the website with the permissions of its database role', async () => {
  const stranger = new Visitor(service);
  expect((await stranger.signUp()).status).toBe(200);
  const workspace = await fixture.createWorkspace();
  const { visitor, member } = await signInAs(service, workspace, 'owner');
  await fixture.leads.insert([workspace.lead(member)]);
  for (const path of ['/overview?zone=UTC', '/api-keys', '/access-tokens', '/members', '/sessions']) {
    const { status } = await visitor.get(path);
    expect([path, status < 500]).toEqual([path, true]);
  }
  const key = await visitor.send('POST', '/console/api-keys', { name: 'Mine' });
  expect(key.status).toBeLessThan(300);
  expect((await visitor.account('/sign-out')).status).toBe(200);
  expect((await visitor.signIn(member.email)).status).toBe(200);
  const denied = service.logs.entries().filter((entry) => JSON.stringify(entry).includes('42501'));
  expect(denied).toEqual([]);
});

test.each([
  ['delete a lead', 'DELETE FROM lead'],
  ['change the history of leads', `UPDATE lead_change SET reason = 'none'`],
  ['erase the history of leads', `SET leads.erasing = 'on'; DELETE FROM lead_change`],
  ['erase leads', `SELECT erase_leads(ARRAY[]::uuid[])`],
  ['change the hash of an API key', `UPDATE api_key SET hash = sha256('mine')`],
  ['extend the life of an access token', `UPDATE access_token SET expires_at = 'infinity'`],
  ['delete a campaign', 'DELETE FROM campaign'],
  ['read the quarantine', 'SELECT FROM lead_quarantine'],
  [
    'insert events into the outbox',
    'INSERT INTO lead_outbox (lead_ids, versions) VALUES (ARRAY[]::uuid[], ARRAY[]::int[])',
  ],
  [
    'insert events into the log',
    `INSERT INTO lead_event_log (position, outbox_id, workspace_ids, lead_ids, versions, created_at, published_at)
     VALUES (1, 1, '{}', '{}', '{}', now(), now())`,
  ],
  ['change the log of events', 'UPDATE lead_event_log_state SET last_position = 0'],
  ['create a table', 'CREATE TABLE mine ()'],
  ['disable triggers', 'ALTER TABLE lead DISABLE TRIGGER ALL'],
])('the database role of the CRM cannot %s', async (_, sql) => {
  await expect(runAs(roles.crm, sql)).rejects.toMatchObject({ code: '42501' });
});
