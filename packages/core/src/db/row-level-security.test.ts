import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addTenant,
  asAdmin,
  changeOf,
  createTestDatabase,
  databaseOptions,
  databaseUrl,
  leadOf,
  leadsOf,
  selection,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import { grantRoles } from '../db-admin/grant.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import type { StoredLead } from '../lead/lead.ts';
import { type LoggedRequest, utcDay } from '../request-log/request-log-store.ts';
import { newId } from '../uuid.ts';
import { createAssigneeStore } from './assignee-store.prisma.ts';
import { createCampaignStore } from './campaign-store.prisma.ts';
import { type Database, openDatabase } from './client.ts';
import { createEventOutbox } from './event-outbox.prisma.ts';
import { Prisma } from './generated/client.ts';
import { createHoldTimerStore } from './hold-timer-store.prisma.ts';
import { createLeadNoteStore } from './lead-note-store.prisma.ts';
import { createPaymentStore } from './payment-store.prisma.ts';
import { createRequestLogStore } from './request-log-store.prisma.ts';
import { createLandingPageStore } from './landing-page-store.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';
import { createLeadViewerStore } from './lead-viewer-store.prisma.ts';

const suffix = newId().replaceAll('-', '').slice(-20);
const names = { crm: `crm_${suffix}`, intake: `intake_${suffix}` };
const password = 'secret';

let database: TestDatabase;
/** Connected with the role of the CRM. It has one connection, so a setting that outlives a statement affects the next. */
let crm: Database;
let intake: Database;
/** An API key of each tenant. */
let keys: string[];
let a: Tenant;
let b: Tenant;
let ofA: StoredLead;
let ofB: StoredLead;

beforeAll(async () => {
  database = await createTestDatabase();
  await grantRoles({
    databaseUrl: database.url,
    statementTimeoutMs: 60_000,
    roles: { crm: { name: names.crm, password }, intake: { name: names.intake, password } },
  });
  [a, b] = [await addTenant(database, 'a'), await addTenant(database, 'b')];
  [ofA, ofB] = [leadOf(a), leadOf(b)];
  for (const { workspaceId, userId, campaignId } of [a, b]) {
    await database.query(`
      INSERT INTO landing_page (id, workspace_id, name, updated_at) VALUES ('${newId()}', '${workspaceId}', 'page', now());
      INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status)
      VALUES ('${newId()}', '${workspaceId}', '${userId}', 'status', '{}', 'Approved');
      INSERT INTO saved_view (id, workspace_id, name, filters) VALUES ('${newId()}', '${workspaceId}', 'open', '{}');
      INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, state)
      VALUES ('${workspaceId}', '${workspaceId}', 1, '${userId}', '${userId}', '2026-01-01', '2026-02-01', 'EUR', '2026-02-01', 'paid');
      INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount) VALUES ('${workspaceId}', '${newId()}', '${workspaceId}', 1);
      INSERT INTO status_alias (workspace_id, alias, status) VALUES ('${workspaceId}', 'junk', 'Trashed');
      INSERT INTO lead_tally VALUES ('${workspaceId}', '${workspaceId}', 'time', '2026-01-01', '', 1, 0, 0, 0);
      INSERT INTO audit_entry (id, workspace_id, at, action, source, details)
      VALUES ('${newId()}', '${workspaceId}', now(), 'sign_in', 'website', '{}');
      INSERT INTO lead_tally_erased (workspace_id, user_id, campaign_id, at, status, leads, with_s1)
      VALUES ('${workspaceId}', '${userId}', '${campaignId}', '2026-01-01', 'OnHold', 1, 0);
      INSERT INTO delivery_endpoint (id, workspace_id, url, event_types, statuses, campaign_ids, secret)
      VALUES ('${workspaceId}', '${workspaceId}', 'https://example.com', '{lead.created}', '{}', '{}', 'x');
      INSERT INTO delivery (id, workspace_id, endpoint_id, type, state)
      VALUES ('${newId()}', '${workspaceId}', '${workspaceId}', 'webhook.test', 'failed');
      INSERT INTO delivery_notice (endpoint_id, user_id, workspace_id)
      VALUES ('${workspaceId}', '${userId}', '${workspaceId}')`);
  }
  keys = await Promise.all([addKey(a), addKey(b)]);
  intake = openDatabase({
    ...databaseOptions(databaseUrl(database.name, { name: names.intake, password })),
    poolSize: 1,
  });
  // Both keys in one write, with the role of the intake.
  await createRequestLogStore(intake).append({
    requests: keys.map((apiKeyId) => requestOf(apiKeyId)),
    counts: keys.map((apiKeyId) => countsOf(apiKeyId, 1)),
  });
  crm = openDatabase({
    ...databaseOptions(databaseUrl(database.name, { name: names.crm, password })),
    poolSize: 1,
  });
  for (const lead of [ofA, ofB]) {
    const store = createLeadStore(crm);
    await store.insert([{ ...lead, actingWorkspaceId: lead.workspaceId }]);
    await store.change(lead.workspaceId, [changeOf(lead)]);
    const { id, workspaceId, userId } = lead;
    await database.query(`
      INSERT INTO lead_note VALUES ('${newId()}', '${workspaceId}', '${id}', '${userId}', NULL, 'Note', now());
      INSERT INTO lead_viewer VALUES ('${id}', '${userId}', '${workspaceId}', now())`);
  }
});

async function addKey({ workspaceId, userId }: Tenant): Promise<string> {
  const id = newId();
  await database.query(
    `INSERT INTO api_key (id, workspace_id, user_id, name, hash, prefix)
     VALUES ($1, $2, $3, 'Key', sha256($4::text::bytea), 'lk_12345678')`,
    [id, workspaceId, userId, id],
  );
  return id;
}
const requestOf = (apiKeyId: string, fields: Partial<LoggedRequest> = {}): LoggedRequest => ({
  id: newId(),
  apiKeyId,
  at: new Date(),
  service: 'intake',
  method: 'POST',
  route: '/api/v1/leads',
  status: 200,
  durationMs: 1.5,
  ...fields,
});
const countsOf = (apiKeyId: string, success: number) => ({
  apiKeyId,
  day: utcDay(new Date()),
  success,
  clientErrors: 0,
  serverErrors: 0,
  unlisted: 0,
});

afterAll(async () => {
  await intake[Symbol.asyncDispose]();
  await crm[Symbol.asyncDispose]();
  // Its permissions go with it. DROP OWNED could get into a deadlock with autovacuum.
  await database[Symbol.asyncDispose]();
  await asAdmin(`DROP ROLE ${names.crm}, ${names.intake}`);
});

const tables = [
  'audit_entry',
  'lead',
  'lead_of_workspace',
  'lead_change',
  'lead_note',
  'lead_viewer',
] as const;
const count = async (table: (typeof tables)[number], workspaceId?: string) => {
  const [row] = await crm.select<{ rows: number }>(
    Prisma.sql`SELECT count(*)::int AS rows FROM ${Prisma.raw(table)}`,
    { workspaceId },
  );
  return row?.rows;
};

test.each(tables)(
  'the CRM sees only rows of the acting workspace in %s, and no row if none is set',
  async (table) => {
    expect(await count(table)).toBe(0);
    expect(await count(table, a.workspaceId)).toBe(1);
    // The setting ends with its statement, although the connection is the same.
    expect(await count(table)).toBe(0);
    expect(await count(table, newId())).toBe(0);
    expect(await count(table, a.workspaceId)).toBe(1);
  },
);

test('the CRM adds entries to the audit log of the acting workspace only, and changes and deletes none', async () => {
  const { workspaceId } = a;
  const add = (to: string) =>
    Prisma.sql`
      INSERT INTO audit_entry (id, workspace_id, at, action, source, details)
      VALUES (${newId()}::uuid, ${to}::uuid, now(), 'sign_in', 'website', '{}')`;
  await expect(crm.select(add(b.workspaceId), { workspaceId })).rejects.toMatchObject({ sqlState: '42501' });
  for (const statement of [
    Prisma.sql`UPDATE audit_entry SET action = 'x'`,
    Prisma.sql`DELETE FROM audit_entry`,
    Prisma.sql`TRUNCATE audit_entry`,
  ]) {
    await expect(crm.select(statement, { workspaceId })).rejects.toMatchObject({ sqlState: '42501' });
  }
  expect(await count('audit_entry', workspaceId)).toBe(1);
});

const tablesReadWithoutWorkspace = [
  'campaign',
  'status_alias',
  'saved_view',
  'lead_job',
  'payment',
  'payment_lead',
  'landing_page',
  'lead_tally',
  'lead_tally_entry',
  'lead_tally_erased',
  'delivery_endpoint',
  'delivery',
  'delivery_notice',
  'api_request',
  'api_usage',
] as const;

test.each(tablesReadWithoutWorkspace)('the CRM sees no row of another workspace in %s', async (table) => {
  const seen = async (workspaceId?: string) => {
    const all = Prisma.sql`SELECT DISTINCT workspace_id AS id FROM ${Prisma.raw(table)} ORDER BY id`;
    return (await crm.select<{ id: string }>(all, { workspaceId })).map(({ id }) => id);
  };
  expect(await seen(a.workspaceId)).toEqual([a.workspaceId]);
  expect(await seen(newId())).toEqual([]);
  // Authentication and aggregation set no workspace, and see all rows.
  expect(await seen()).toEqual([a.workspaceId, b.workspaceId].toSorted());
});

test('the request log keeps the newest 1,000 requests of a key and adds up its counts, and a repeated write adds no request', async () => {
  const { workspaceId } = a;
  const apiKeyId = await addKey(a);
  const key = { workspaceId, apiKeyId };
  const store = createRequestLogStore(crm);
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1) + index);
  for (let from = 0; from < 1_200; from += 100) {
    const requests = Array.from({ length: 100 }, (_, index) =>
      requestOf(apiKeyId, {
        at: at(from + index),
        service: index % 2 === 0 ? 'crm' : 'intake',
        ...(index === 99 && { status: 503, code: 'unavailable' }),
      }),
    );
    const batch = { requests, counts: [countsOf(apiKeyId, 99), countsOf(newId(), 1)] };
    // The other role writes the same batch again. The requests of a deleted key are skipped.
    await store.append(batch);
    await createRequestLogStore(intake).append({
      requests: [...requests, requestOf(newId())],
      counts: [{ ...countsOf(apiKeyId, 0), serverErrors: 1, unlisted: 2 }],
    });
  }
  const stored = await database.query<{ rows: number }>(
    'SELECT count(*)::int AS rows FROM api_request WHERE api_key_id = $1',
    [apiKeyId],
  );
  expect(stored).toEqual([{ rows: 1_000 }]);
  const newest = await store.list(key, {}, 2);
  expect(newest.map((request) => request.at)).toEqual([at(1_199), at(1_198)]);
  expect(newest[0]).toEqual(
    requestOf(apiKeyId, {
      id: expect.any(String) as string,
      at: at(1_199),
      status: 503,
      code: 'unavailable',
    }),
  );
  const failed = await store.list(key, { status: 'server_error' }, 1_000);
  expect(failed).toHaveLength(10);
  expect(await store.list(key, { status: 'server_error' }, 1_000, failed[3])).toEqual(failed.slice(4));
  expect(await store.list(key, { status: 'client_error' }, 1_000)).toEqual([]);
  expect(await store.list(key, { service: 'crm', status: 'success' }, 1_000)).toHaveLength(500);
  const day = utcDay(new Date());
  expect(await store.usage(key, day)).toEqual([
    { day, success: 1_188, clientErrors: 0, serverErrors: 12, unlisted: 24 },
  ]);
  expect([await store.hasKey(key), await store.hasKey({ ...key, userId: b.userId })]).toEqual([true, false]);

  // Another workspace sees nothing, even if it knows the id.
  const foreign = { workspaceId: b.workspaceId, apiKeyId };
  expect([
    await store.hasKey(foreign),
    await store.list(foreign, {}, 9),
    await store.usage(foreign, day),
  ]).toEqual([false, [], []]);

  expect(await store.dropBefore(at(1_100), day, 10)).toBe(10);
  expect(await store.dropBefore(at(1_100), day, 10_000)).toBe(890);
  expect(await store.list(key, {}, 1_000)).toHaveLength(100);
  expect(await store.usage(key, '2026-01-01')).toHaveLength(1);
  await database.query('DELETE FROM api_key WHERE id = $1', [apiKeyId]);
  expect(await database.query('SELECT FROM api_request WHERE api_key_id = $1', [apiKeyId])).toEqual([]);
});

test('the intake has no right on the tables of the request log', async () => {
  for (const table of ['api_request', 'api_usage']) {
    await expect(intake.select(Prisma.sql`SELECT FROM ${Prisma.raw(table)}`)).rejects.toMatchObject({
      sqlState: '42501',
    });
  }
});

test('the CRM cannot change or create a campaign or landing page of another workspace', async () => {
  const { workspaceId } = a;
  for (const table of ['campaign', 'landing_page']) {
    const changed = Prisma.sql`UPDATE ${Prisma.raw(table)} SET name = name || '!' RETURNING workspace_id AS id`;
    const ids = (await crm.select<{ id: string }>(changed, { workspaceId })).map(({ id }) => id);
    expect([table, new Set(ids)]).toEqual([table, new Set([workspaceId])]);
  }
  const insert = Prisma.sql`
    INSERT INTO landing_page (id, workspace_id, name, updated_at)
    VALUES (${newId()}::uuid, ${b.workspaceId}::uuid, 'mine', now())`;
  await expect(crm.select(insert, { workspaceId })).rejects.toMatchObject({ sqlState: '42501' });
});

test('the stores of campaigns and landing pages set the acting workspace in their queries', async () => {
  const campaigns = createCampaignStore(crm);
  const landingPages = createLandingPageStore(crm);
  expect(await campaigns.findByCode(a.workspaceId, 'extra')).toMatchObject({ id: a.otherCampaignId });
  expect(await campaigns.list(b.workspaceId)).toHaveLength(2);
  const page = await landingPages.create({ workspaceId: a.workspaceId, name: 'another' });
  expect(await landingPages.map(b.workspaceId, { id: page.id }, undefined)).toBeUndefined();
  expect(await landingPages.find(a.workspaceId, { id: page.id })).toEqual(page);
});

test('a statement with the id of a lead of another workspace reads and changes no row', async () => {
  const workspaceId = a.workspaceId;
  const found = (id: string) =>
    crm.select(Prisma.sql`SELECT id FROM lead WHERE id = ${id}::uuid`, { workspaceId });
  expect(await found(ofA.id)).toHaveLength(1);
  expect(await found(ofB.id)).toEqual([]);
  const history = Prisma.sql`SELECT FROM lead_change WHERE lead_id = ${ofB.id}::uuid`;
  expect(await crm.select(history, { workspaceId })).toEqual([]);
  const changed = Prisma.sql`UPDATE lead SET name = 'Eve' WHERE id = ${ofB.id}::uuid RETURNING id`;
  expect(await crm.select(changed, { workspaceId })).toEqual([]);
  expect(await crm.select(changed)).toEqual([]);

  const store = createLeadStore(crm);
  expect(await store.change(workspaceId, [changeOf({ ...ofB, version: 2 })])).toEqual(new Map());
  expect(await store.history({ id: ofB.id, workspaceId }, 0, 10)).toEqual([]);
});

test('an insert is rejected if the acting workspace is another one or is not set', async () => {
  const store = createLeadStore(crm);
  const watched = { phoneE164: '+442079460958', duplicateWindowSeconds: 60 };
  const acting = (tenant: Tenant, actingWorkspaceId: string | undefined, more = {}) => ({
    ...leadOf(tenant),
    ...more,
    actingWorkspaceId,
  });
  for (const workspaceId of [a.workspaceId, undefined]) {
    for (const more of [{}, watched, { traceparent: '00-1-1-01' }]) {
      const foreign = acting(b, workspaceId, more);
      for (const batch of [[foreign], [acting(a, a.workspaceId), foreign, acting(b, b.workspaceId)]]) {
        await expect(store.insert(batch)).rejects.toMatchObject({ sqlState: '42501' });
      }
    }
  }
  expect(await store.insert([acting(b, b.workspaceId, watched)])).toMatchObject([{ result: 'added' }]);
});

test('one statement inserts leads of several workspaces, each for its acting workspace', async () => {
  const store = createLeadStore(crm);
  for (const more of [{}, { duplicateWindowSeconds: 60, phoneE164: '+442079460959' }]) {
    const leads = [a, b, a, a, b, b, a, b].map((tenant) => {
      const actingWorkspaceId = tenant.workspaceId;
      return Object.assign(leadOf(tenant), more, { actingWorkspaceId });
    });
    const outcomes = await store.insert(leads);
    expect(outcomes.map(({ result }) => result)).toEqual(leads.map(() => 'added'));
    for (const { id, workspaceId } of leads) {
      expect(await store.find({ workspaceId }, [id])).toMatchObject([{ id, workspaceId }]);
      const other = workspaceId === a.workspaceId ? b.workspaceId : a.workspaceId;
      expect(await store.find({ workspaceId: other }, [id])).toEqual([]);
    }
    expect((await store.insert(leads)).map(({ result }) => result)).toEqual(leads.map(() => 'repeated'));
    await database.query(`SET session_replication_role = replica;
      DELETE FROM lead WHERE id = ANY('{${leads.map(({ id }) => id).join()}}');
      RESET session_replication_role`);
  }
  // The setting ends with its statement, although the connection is the same.
  expect(await count('lead')).toBe(0);
});

test('an invalid workspace id is rejected, and a failed statement leaves the connection usable', async () => {
  const listed = async () => leadsOf(await createLeadStore(crm).list(selection(a), { limit: 10 }));
  expect(await listed()).toMatchObject([{ id: ofA.id }]);
  await expect(count('lead', 'none')).rejects.toMatchObject({ sqlState: '22P02' });
  const named = { name: 'of_no_table', workspaceId: a.workspaceId };
  for (const _ of [1, 2]) {
    await expect(crm.select(Prisma.sql`SELECT FROM no_table`, named)).rejects.toMatchObject({
      sqlState: '42P01',
    });
    const divisionByZero = Prisma.sql`SELECT 1 / ${0}::int`;
    await expect(crm.select(divisionByZero, { ...named, name: 'by_zero' })).rejects.toMatchObject({
      sqlState: '22012',
    });
    expect(await listed()).toMatchObject([{ id: ofA.id }]);
    expect(await count('lead')).toBe(0);
  }
  // The statement succeeds after the table was created, so its failure was not recorded as prepared.
  await database.query(`CREATE TABLE no_table (); GRANT SELECT ON no_table TO ${names.crm}`);
  expect(await crm.select(Prisma.sql`SELECT FROM no_table`, named)).toEqual([]);
});

test.each([true, false])(
  'one transaction changes leads of several workspaces, each for its acting workspace (prepared: %s)',
  async (preparedStatements) => {
    await using changing = openDatabase({
      ...databaseOptions(databaseUrl(database.name, { name: names.crm, password })),
      poolSize: 1,
      preparedStatements,
    });
    const store = createLeadStore(changing);
    const [first, second, third] = [leadOf(a), leadOf(b), leadOf(b)];
    const leads = [first, second, third].map((lead) =>
      Object.assign(lead, { actingWorkspaceId: lead.workspaceId }),
    );
    await store.insert(leads);
    try {
      const changed = await store.changeInEach([
        { workspaceId: b.workspaceId, changes: [changeOf(second), changeOf(first), changeOf(third)] },
        { workspaceId: a.workspaceId, changes: [changeOf(second), changeOf(first)] },
      ]);
      expect(changed.map((each) => [...each.keys()].toSorted())).toEqual([
        [second.id, third.id].toSorted(),
        [first.id],
      ]);
      const rejected = changeOf({ ...second, version: 2 }, { change: { userId: newId() } });
      await expect(
        store.changeInEach([
          { workspaceId: a.workspaceId, changes: [changeOf({ ...first, version: 2 })] },
          { workspaceId: b.workspaceId, changes: [rejected] },
        ]),
      ).rejects.toMatchObject({ sqlState: '23503' });
      for (const { id, workspaceId } of leads) {
        expect(await store.find({ workspaceId }, [id])).toMatchObject([{ status: 'Approved', version: 2 }]);
      }
      const statuses = await store.changeStatusInEach(
        [b, a].map(({ workspaceId, userId }) => ({
          workspaceId,
          changes: leads.map(({ id }) => ({
            id,
            from: ['Approved'],
            to: 'Paid',
            userId,
            createdAt: new Date(),
          })),
        })),
      );
      expect(statuses.map((each) => [...each.keys()].toSorted())).toEqual([
        [second.id, third.id].toSorted(),
        [first.id],
      ]);
      const history = Prisma.sql`SELECT FROM lead_change WHERE lead_id = ANY(${leads.map(({ id }) => id)}::uuid[])`;
      const entriesOf = async (workspaceId?: string) =>
        (await changing.select(history, { workspaceId })).length;
      expect([await entriesOf(a.workspaceId), await entriesOf(b.workspaceId), await entriesOf()]).toEqual([
        2, 4, 0,
      ]);
    } finally {
      await database.query(`SET session_replication_role = replica;
        DELETE FROM lead_change WHERE lead_id = ANY('{${leads.map(({ id }) => id).join()}}');
        DELETE FROM lead WHERE id = ANY('{${leads.map(({ id }) => id).join()}}');
        RESET session_replication_role`);
    }
  },
);

test('without prepared statements, a statement sees only the rows of its acting workspace', async () => {
  await using unprepared = openDatabase({
    ...databaseOptions(databaseUrl(database.name, { name: names.crm, password })),
    poolSize: 1,
    preparedStatements: false,
  });
  const idsFor = (workspaceId?: string) =>
    unprepared.select(Prisma.sql`SELECT id FROM lead WHERE id = ANY(${[ofA.id, ofB.id]}::uuid[])`, {
      workspaceId,
    });
  for (const { workspaceId, id } of [ofA, ofB]) {
    expect(await idsFor(workspaceId)).toEqual([{ id }]);
    expect(await idsFor()).toEqual([]);
    await expect(unprepared.select(Prisma.sql`SELECT 1 / ${0}::int`, { workspaceId })).rejects.toMatchObject({
      sqlState: '22012',
    });
  }
});

test('leads are assigned in turn, unassigned, viewed and noted within their workspace', async () => {
  const [userId, workspaceId] = [newId(), a.workspaceId];
  const assignees = [a.userId, userId];
  await database.query(`
    INSERT INTO "user" (id, name, email, updated_at) VALUES ('${userId}', 'Bob', 'bob@example.io', now());
    INSERT INTO member (id, workspace_id, user_id, role) VALUES ('${newId()}', '${workspaceId}', '${userId}', 'manager');
    UPDATE campaign SET assignee_ids = '{${[...assignees, b.userId].join()}}' WHERE id = '${a.otherCampaignId}'`);
  const store = createLeadStore(crm);
  const turnOf = async (ids: readonly string[]) => {
    const found = new Map((await store.find({ workspaceId }, ids)).map((lead) => [lead.id, lead]));
    return ids.map((id) => assignees.indexOf(found.get(id)?.assigneeId ?? ''));
  };
  const inCampaign = (more = {}) => leadOf(a, { campaignId: a.otherCampaignId, ...more });
  const leads = [inCampaign(), inCampaign({ status: 'Trashed' }), inCampaign(), leadOf(a), inCampaign()];
  const [later, last] = [inCampaign(), inCampaign()];
  const ids = [...leads, later, last].map(({ id }) => id);
  try {
    await store.insert(leads.map((lead) => Object.assign(lead, { actingWorkspaceId: workspaceId })));
    // The role of the intake has no rights on the assignees.
    for (const lead of [later, last]) await createLeadStore(intake).insert([lead]);
    // A lead on hold of the campaign has the next turn. The user of another workspace has none.
    expect(await turnOf(ids)).toEqual([0, -1, 1, -1, 0, 1, 0]);

    await database.query(
      `DELETE FROM member WHERE workspace_id = '${workspaceId}' AND user_id = '${userId}'`,
    );
    const assigned = createAssigneeStore(crm);
    expect([await assigned.unassignGone(1), await assigned.unassignGone(9)]).toEqual([1, 1]);
    expect(await assigned.unassignGone(9)).toBe(0);
    expect(await turnOf(ids)).toEqual([0, -1, -1, -1, 0, -1, 0]);
    expect(await store.history({ id: later.id, workspaceId }, 0, 9)).toMatchObject([
      { version: 2, userId, reason: 'assignee_removed', fields: { assigneeId: { from: userId } } },
    ]);
    expect(await store.find({ workspaceId }, [later.id])).toMatchObject([{ version: 2 }]);

    const notes = createLeadNoteStore(crm);
    const note = { id: newId(), text: 'Note', authorId: a.userId };
    expect(await notes.add(later, note)).toMatchObject({ version: 3, note: { ...note, author: 'a' } });
    expect(
      await notes.add({ ...later, workspaceId: b.workspaceId }, { ...note, id: newId() }),
    ).toBeUndefined();
    expect(await notes.list(later, 9)).toMatchObject([note]);
    expect(await notes.list({ ...later, workspaceId: b.workspaceId }, 9)).toEqual([]);

    const viewers = createLeadViewerStore(crm);
    await database.query(`INSERT INTO member (id, workspace_id, user_id, role)
      VALUES ('${newId()}', '${workspaceId}', '${userId}', 'manager')`);
    expect(await viewers.view(later, userId, 60_000)).toEqual([]);
    expect(await viewers.view(later, a.userId, 60_000)).toEqual([{ userId, name: 'Bob' }]);
    // A user who opens another lead leaves this one.
    await viewers.view(last, userId, 60_000);
    expect(await viewers.view(later, a.userId, 60_000)).toEqual([]);
    expect(await viewers.view(last, a.userId, 0)).toEqual([]);
    expect(await viewers.list(a, 60_000)).toEqual([{ leadId: last.id, userId, name: 'Bob' }]);
    expect(await viewers.list(a, 0)).toEqual([]);
    const ofOther = await viewers.list({ ...a, workspaceId: b.workspaceId }, 60_000);
    expect(ofOther.map(({ leadId }) => leadId)).not.toContain(last.id);
    await viewers.leave({ workspaceId, userId }, last.id);
    expect(await viewers.view(last, a.userId, 60_000)).toEqual([]);
  } finally {
    await database.query(`SELECT FROM erase_leads('{${ids.join()}}')`);
    const left = await database.query(`
      SELECT lead_id FROM lead_note WHERE lead_id = ANY('{${ids.join()}}')
      UNION SELECT lead_id FROM lead_viewer WHERE lead_id = ANY('{${ids.join()}}')`);
    expect(left).toEqual([]);
  }
});

test('the CRM approves due leads of several workspaces', async () => {
  const leads = [a, b].map((tenant) => leadOf(tenant));
  const ids = leads.map(({ id }) => id);
  // The role of the intake has no rights on hold times, but leads of the intake have them.
  await createLeadStore(intake).insert(leads.map((lead) => Object.assign(lead, { approveAfterSeconds: 60 })));
  await database.query(`
    UPDATE campaign SET approve_after_seconds = 60;
    UPDATE lead SET created_at = created_at - interval '1 hour', approve_at = now() WHERE id = ANY('{${ids.join()}}')`);
  expect(await createHoldTimerStore(crm).approveDue(9)).toMatchObject({ approved: 2, taken: 2 });
  const approved = await database.query(`SELECT FROM lead_change WHERE user_id IS NULL`);
  expect(approved).toHaveLength(2);
  await database.query(`
    UPDATE campaign SET approve_after_seconds = NULL; SELECT FROM erase_leads('{${ids.join()}}')`);
});

test('the CRM pays the leads of one workspace, and has no rights on the payments of another', async () => {
  const tenants = [a, b].map((tenant) => ({ tenant, lead: leadOf(tenant, { status: 'Approved' }) }));
  const ids = tenants.map(({ lead }) => lead.id);
  const store = createPaymentStore(crm);
  try {
    await database.query(`UPDATE campaign SET payout_amount = 2, payout_currency = 'EUR'`);
    for (const { tenant, lead } of tenants) {
      await createLeadStore(crm).insert([{ ...lead, actingWorkspaceId: tenant.workspaceId }]);
      const { workspaceId, userId } = tenant;
      const range = { from: new Date(0), to: new Date(Date.now() + 60_000) };
      const payment = { id: newId(), workspaceId, userId, createdBy: userId, ...range };
      expect(await store.create({ ...payment, currency: 'EUR', date: '2026-02-01' }, 9)).toMatchObject({
        payment: { number: 2, total: 1 },
      });
    }
    while (await store.step(9));
    for (const { tenant, lead } of tenants) {
      const [payment] = await store.list(tenant, 1);
      expect(payment).toMatchObject({ state: 'paid', leads: 1, amount: '2' });
      const found = { workspaceId: tenant.workspaceId, id: payment?.id ?? '' };
      expect(await store.listLeads(found, 9)).toEqual([{ id: lead.id, amount: '2', state: 'paid' }]);
      const other = { ...found, workspaceId: (tenant === a ? b : a).workspaceId };
      expect(await store.find(other, found.id)).toBeUndefined();
      expect(await store.cancel(other, { userId: tenant.userId, reason: 'r' })).toBeUndefined();
      expect(await store.listLeads(other, 9)).toEqual([]);
    }
  } finally {
    await database.query(`
      UPDATE campaign SET payout_amount = NULL, payout_currency = NULL; DELETE FROM payment WHERE number = 2;
      SELECT FROM erase_leads('{${ids.join()}}')`);
  }
});

test('a transaction sees the rows of its acting workspace until it ends', async () => {
  const ids = await crm.transaction(
    async (tx) => {
      await tx.$queryRaw`SELECT 1`;
      return tx.$queryRaw<{ id: string }[]>`SELECT id FROM lead`;
    },
    { workspaceId: a.workspaceId },
  );
  expect(ids).toEqual([{ id: ofA.id }]);
  expect(await crm.transaction((tx) => tx.$queryRaw`SELECT id FROM lead`)).toEqual([]);
});

test('the outbox publishes events of all workspaces, and its functions return only leads with waiting events', async () => {
  const published: LeadEvent[] = [];
  const outbox = createEventOutbox(crm);
  while (await outbox.publishNext(100, async (events) => void published.push(...events)));
  const idsOf = (type: string) =>
    published.filter((event) => event.type === type).map(({ data }) => data.lead.id);
  expect(idsOf('lead.created')).toEqual(expect.arrayContaining([ofA.id, ofB.id]));
  expect(idsOf('lead.status_changed')).toEqual([ofA.id, ofB.id]);
  for (const name of ['leads_of_outbox', 'changes_of_outbox']) {
    const all = Prisma.sql`SELECT FROM ${Prisma.raw(name)}(ARRAY(SELECT generate_series(1, 1000)), 1000)`;
    expect(await crm.select(all)).toEqual([]);
  }
});

/** lead-plans.test.ts checks that the owner's plans use the indexes. */
test.each([
  ['words', `array_to_tsvector(words) @@ '''ada'':*'::tsquery`],
  ['phone', `phone_end(phone_e164, phone) = '1'`],
  ['landing page', `lp_name IS NOT NULL AND left(lp_name, 255) = 'x'`],
])('a search by %s has the same plan for the CRM as for the owner of the tables', async (_, condition) => {
  const client = new pg.Client({
    connectionString: databaseUrl(database.name, { name: names.crm, password }),
  });
  await client.connect();
  try {
    const planOf = async (of: pg.Client, table: string): Promise<unknown> => {
      await of.query(`SELECT set_config('leads.workspace', $1, false)`, [a.workspaceId]);
      const where = `workspace_id = '${a.workspaceId}' AND ${condition}`;
      return (await of.query(`EXPLAIN (COSTS OFF) SELECT id FROM ${table} WHERE ${where}`)).rows;
    };
    const plan = await planOf(client, 'lead_of_workspace');
    expect(plan).toEqual(await planOf(await database.connect(), 'lead_of_workspace'));
    // Without the view, row-level security prevents the use of the index.
    await client.query('SET enable_seqscan = off');
    expect(JSON.stringify(await planOf(client, 'lead'))).not.toMatch(
      /Index Cond[^"]*(words|reverse|phone_end|lp_name)/,
    );
  } finally {
    await client.end();
  }
});

test('Postgres plans the search for due leads once on each connection', async () => {
  for (let run = 1; run <= 2; run++) await createHoldTimerStore(crm).approveDue(9);
  const plans = await crm.select({
    text: `SELECT custom_plans::int AS "customPlans" FROM pg_prepared_statements WHERE name = 'take_due_leads'`,
    values: [],
  });
  expect(plans).toEqual([{ customPlans: 0 }]);
});

test('the view lead_of_workspace has all columns of the table lead', async () => {
  const columnsOf = (table: string) =>
    database.query(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
       ORDER BY attname`,
      [table],
    );
  expect(await columnsOf('lead_of_workspace')).toEqual(await columnsOf('lead'));
});

test('the owner of the tables sees the leads of all workspaces', async () => {
  expect(await database.query('SELECT id FROM lead')).toHaveLength(3);
});

test('Postgres plans the reading and changing of leads by their ids once, and looks up each by its id, also without statistics of the table', async () => {
  const { workspaceId, userId, campaignId } = await addTenant(database, 'c');
  // Statistics that autovacuum takes before the insert is committed are wrong: few leads in many pages.
  await database.query('ALTER TABLE lead SET (autovacuum_enabled = false)');
  await database.query(`SELECT pg_clear_relation_stats('public', 'lead')`);
  // Autovacuum may have analyzed the few leads of the other tests. Each of their workspaces has one lead.
  await database.query(
    `SELECT pg_clear_attribute_stats('public', 'lead', attname, false) FROM pg_attribute
     WHERE attrelid = 'lead'::regclass AND attnum > 0 AND NOT attisdropped`,
  );
  const rows = await database.query<{ id: string }>(
    `INSERT INTO lead (id, workspace_id, user_id, campaign_id, source, status, name, phone, created_at, updated_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'crm', 'OnHold', 'Ada', '1', now(), now() FROM generate_series(1, 20_000)
     RETURNING id`,
    [workspaceId, userId, campaignId],
  );
  await crm.select({ text: 'DISCARD PLANS', values: [] });
  const store = createLeadStore(crm);
  const ids = rows.slice(0, 7).map(({ id }) => id);
  for (const id of ids) {
    const change = { id, from: ['OnHold'], to: 'Approved', userId, createdAt: new Date() } as const;
    expect(await store.changeStatus(workspaceId, change)).toBeDefined();
    const [lead] = await store.find({ workspaceId }, [id]);
    const edit = changeOf(lead as StoredLead, {
      lead: { status: 'Approved', city: 'London' },
      change: { status: undefined },
    });
    expect((await store.change(workspaceId, [edit])).size).toBe(1);
  }
  const changes = ['change_any_statuses', 'change_leads', 'find_leads'];
  const prepared = await crm.select<{ name: string; parameters: number }>({
    text: `SELECT name, cardinality(parameter_types)::int AS parameters, custom_plans::int AS "customPlans"
      FROM pg_prepared_statements WHERE name = ANY ($1) ORDER BY name`,
    values: [changes],
  });
  expect(prepared).toMatchObject(changes.map((name) => ({ name, customPlans: 0 })));
  for (const { name, parameters } of prepared) {
    const values = Array.from({ length: parameters }, () => 'NULL').join();
    await crm.select({ text: 'SET plan_cache_mode = force_generic_plan', values: [] });
    const plan = await crm.select({ text: `EXPLAIN (COSTS OFF) EXECUTE ${name} (${values})`, values: [] });
    await crm.select({ text: 'RESET plan_cache_mode', values: [] });
    const scans = plan
      .map((row) => String(Object.values(row)[0]))
      .filter((line) => / on lead( |$)/.test(line));
    expect(
      scans.filter((line) => !/(Update|Subquery Scan) on|Scan using lead_pkey/.test(line)),
      scans.join('\n'),
    ).toEqual([]);
    expect(scans.length).toBeGreaterThan(0);
  }
});
