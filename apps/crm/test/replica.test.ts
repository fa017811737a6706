import { randomUUID } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDatabase } from '@leads/core/db';
import { migrate } from '@leads/core/db-admin/migrate';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { startReplica } from '@leads/local-stack/processes/postgres-replica';
import { type Fixture, jwtSecret, openFixture, type TestWorkspace } from '@leads/test-kit/fixture';
import { parseMetrics, sumOf } from '@leads/test-kit/prometheus-text';
import type { RunningService } from '@leads/test-kit/running-service';
import { createServiceRoles } from '@leads/test-kit/service-roles';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { startCrmService } from './crm.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-replica-'));
// The account of Postgres needs access to its data directory.
chmodSync(directory, 0o711);
const migrationsDir = resolve(import.meta.dirname, '../../../prisma/migrations');
const path = '/api/v1/order/leads';
const pollOptions = { interval: 50 };

const dataDir = join(directory, 'data');

let primary: LocalPostgres;
let replica: LocalPostgres;
let fixture: Fixture;
/** A fixture that queries the replica. */
let onReplica: Fixture;
beforeAll(async () => {
  primary = await startPostgres({ dataDir, durable: false });
  await primary.createDatabase('leads');
  await migrate({ databaseUrl: primary.url('leads'), migrationsDir });
  // Nothing is synced to disk, but each acknowledged transaction is in the WAL, as by default.
  await using admin = openFixture(primary.url('leads'));
  await admin.sql('ALTER DATABASE leads SET synchronous_commit = on');
  replica = await startReplica({ primaryUrl: primary.url('postgres'), dataDir, synchronous: false });
  fixture = openFixture(primary.url('leads'), await createAccessTokenCodec(jwtSecret));
  onReplica = openFixture(replica.url('leads'));
});
afterEach(async () => {
  await onReplica.sql('SELECT pg_wal_replay_resume()').catch(() => undefined);
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await onReplica[Symbol.asyncDispose]();
  await replica.stop();
  await primary.stop();
  rmSync(directory, { recursive: true, force: true });
});

const countLogs = ({ logs }: RunningService, text: string) =>
  logs.entries().filter(({ msg }) => String(msg).startsWith(text)).length;

/** Starts a service that reads from the replica. @param url the primary, with the role of the service. */
async function start(maxLagSeconds: number, url = primary.url('leads')): Promise<RunningService> {
  const service = await startCrmService(url, {
    DATABASE_REPLICA_URL: onReplicaAs(url),
    DATABASE_REPLICA_MAX_LAG_SECONDS: String(maxLagSeconds),
  });
  await expect.poll(() => countLogs(service, 'The replica has caught up'), pollOptions).toBe(1);
  return service;
}

/** Returns the URL of the replica with the role of a URL of the primary. */
function onReplicaAs(url: string): string {
  const address = new URL(url);
  address.port = new URL(replica.url('leads')).port;
  return address.href;
}

/** Inserts a lead directly, as another process or the intake does. @returns the id of the lead. */
async function insert(
  workspace: TestWorkspace,
  name: string,
  fields: Parameters<TestWorkspace['lead']>[1] = {},
): Promise<string> {
  const id = randomUUID();
  await fixture.leads.insert([workspace.lead(workspace.owner, { id, name, ...fields })]);
  return id;
}

async function list(
  service: RunningService,
  { owner }: TestWorkspace,
  accept?: string,
  query = '',
): Promise<string> {
  const headers = { ...owner.headers, ...(accept !== undefined && { Accept: accept }) };
  const answer = await service.send({ path: path + query, headers });
  expect(answer.status).toBe(200);
  return answer.text;
}

/** Returns the time of the last read of leads from the replica, or 0. Postgres shows the first 1,024 bytes of a query. */
async function lastRead(): Promise<number> {
  const [row] = await onReplica.sql<{ at: number }>(`
    SELECT coalesce(extract(epoch FROM max(query_start)), 0)::float8 AS at FROM pg_stat_activity
    WHERE application_name = 'leads-crm-reads' AND query ~ 'FROM lead|lead[.]'`);
  return row?.at ?? 0;
}

const pause = async () => {
  await onReplica.sql('SELECT pg_wal_replay_pause()');
  await expect
    .poll(() => onReplica.sql('SELECT pg_get_wal_replay_pause_state() AS is'), pollOptions)
    .toEqual([{ is: 'paused' }]);
};

test('the CRM reads lists and exports from the replica, and a client reads its own writes', async () => {
  const workspace = await fixture.createWorkspace();
  const other = await fixture.createWorkspace();
  await insert(workspace, 'first');
  // The maximum lag is so long that only writes through the service matter.
  await using service = await start(3_600);
  for (const accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
    await expect.poll(() => list(service, workspace, accept), pollOptions).toContain('first');
    const before = await lastRead();
    await list(service, workspace, accept);
    expect([accept, await lastRead()]).not.toEqual([accept, before]);
  }

  await pause();
  await insert(workspace, 'by another process');
  await insert(other, 'by another process');
  expect(await list(service, workspace)).not.toContain('by another process');

  const body = { campaignCode: 'DEMO', name: 'by the service', phone: '+44 20 7946 0958' };
  const { headers } = workspace.owner;
  expect((await service.send({ method: 'POST', path, headers, body })).status).toBe(200);
  const listed = await list(service, workspace);
  expect(listed).toContain('by the service');
  expect(listed).toContain('by another process');
  expect(await list(service, other)).not.toContain('by another process');

  await onReplica.sql('SELECT pg_wal_replay_resume()');
  const before = await lastRead();
  await expect
    .poll(async () => {
      expect(await list(service, workspace)).toContain('by the service');
      return (await lastRead()) > before;
    }, pollOptions)
    .toBe(true);
});

test('a client that adds a note or starts a payment reads its own write, and the status of each lead that the process pays', async () => {
  const [noted, paying, paid] = [
    await fixture.createWorkspace(),
    await fixture.createWorkspace(),
    await fixture.createWorkspace(),
  ];
  const createdAt = new Date('2026-01-15T12:00:00Z');
  const noteId = await insert(noted, 'noted', { createdAt, updatedAt: createdAt });
  await using service = await start(3_600);
  for (const { id, demoCampaignId, owner } of [paying, paid]) {
    const payout = { amount: '1', currency: 'EUR' };
    const campaign = `/api/v1/campaigns/${demoCampaignId}`;
    const set = await service.send({
      method: 'PATCH',
      path: campaign,
      headers: owner.headers,
      body: { payout },
    });
    expect([id, set.status]).toEqual([id, 200]);
  }
  await insert(paying, 'payable', { createdAt, status: 'Approved' });
  const planned = await insert(paid, 'planned', { createdAt, status: 'Approved' });
  const send = async ({ owner }: TestWorkspace, to: string, body: object) => {
    const answer = await service.send({ method: 'POST', path: to, headers: owner.headers, body });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    return answer;
  };
  for (const workspace of [noted, paying, paid]) {
    await expect.poll(() => list(service, workspace), pollOptions).toContain('"id"');
  }

  await pause();
  await send(noted, `${path}/${noteId}/notes`, { text: 'Call after six' });
  expect(await list(service, noted, undefined, '?updatedSince=2026-01-16')).toContain('noted');

  const created = await send(paying, '/api/v1/payments', {
    userId: paying.owner.userId,
    from: '2026-01-01',
    to: '2026-01-31',
    currency: 'EUR',
    date: '2026-02-03',
  });
  const { id } = created.json<{ payment: { id: string } }>().payment;
  expect(await list(service, paying, undefined, `?payment=${id}`)).toContain('payable');

  // Another process starts the payment, so that only the runner of this process writes.
  await fixture.sql(
    `WITH added AS (
       INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, total)
       VALUES ($1, $2, 1, $3, $3, now(), now(), 'EUR', now(), 1) RETURNING id
     )
     INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount) SELECT id, $4, $2, 1 FROM added`,
    [randomUUID(), paid.id, paid.owner.userId, planned],
  );
  await expect.poll(() => list(service, paid, undefined, '?status=Paid'), pollOptions).toContain('planned');
});

test('a job and an import of statuses find the leads that they change on the primary', async () => {
  const workspace = await fixture.createWorkspace();
  const { headers, userId } = workspace.owner;
  const colleague = await workspace.addMember('manager');
  const createdAt = new Date(Date.now() - 60_000);
  const taken = await insert(workspace, 'taken', { createdAt });
  await using service = await start(3_600);
  await expect.poll(() => list(service, workspace), pollOptions).toContain('taken');

  await pause();
  await fixture.sql('UPDATE lead SET assignee_id = $1 WHERE id = $2', [colleague.userId, taken]);
  const open = await insert(workspace, 'open', { createdAt, s1: 'click-1' });
  expect(await list(service, workspace)).not.toContain('open');

  const file = await service.send({
    method: 'POST',
    path: `${path}/status/import`,
    headers: { ...headers, 'Content-Type': 'text/csv' },
    body: 's1,status\r\nclick-1,OnHold\r\n',
  });
  expect(file.json()).toMatchObject({ unchanged: 1, rejected: 0 });
  expect(await list(service, workspace)).not.toContain('open');

  const jobs = '/api/v1/jobs';
  const body = { action: 'assign', assigneeId: userId, filters: { assignee: 'none' } };
  const started = await service.send({ method: 'POST', path: jobs, headers, body });
  const { id } = started.json<{ job: { id: string } }>().job;
  const read = async () => {
    const answer = await service.send({ path: `${jobs}/${id}`, headers });
    return answer.json<{ job: { state: string } }>().job;
  };
  await expect.poll(async () => (await read()).state, pollOptions).toBe('done');
  expect(await read()).toMatchObject({ total: 1, changed: 1, refused: 0 });
  const assignees = await fixture.sql<{ id: string; of: string }>(
    'SELECT id, assignee_id AS "of" FROM lead WHERE workspace_id = $1',
    [workspace.id],
  );
  expect(new Map(assignees.map((lead) => [lead.id, lead.of]))).toEqual(
    new Map([
      [taken, colleague.userId],
      [open, userId],
    ]),
  );
});

test('the CRM reads only one workspace from the replica with its own role, and can write', async () => {
  await using roles = await createServiceRoles(primary.url('leads'));
  const [workspace, other] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  await insert(workspace, 'of this workspace');
  await insert(other, 'of the other workspace');
  await using service = await start(3_600, roles.crm);
  for (const accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
    await expect.poll(() => list(service, workspace, accept), pollOptions).toContain('of this workspace');
    const before = await lastRead();
    expect(await list(service, workspace, accept)).not.toContain('of the other workspace');
    expect([accept, await lastRead()]).not.toEqual([accept, before]);
  }
  expect(await list(service, other)).toContain('of the other workspace');

  const body = { campaignCode: 'DEMO', name: 'by the service', phone: '+44 20 7946 0958' };
  const { headers } = workspace.owner;
  expect((await service.send({ method: 'POST', path, headers, body })).status).toBe(200);
  expect(await list(service, workspace)).toContain('by the service');

  await using database = openDatabase({
    url: onReplicaAs(roles.crm),
    poolSize: 1,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    applicationName: 'leads-tests',
  });
  const names = async (workspaceId?: string) => {
    const allNames = { text: 'SELECT name FROM lead', values: [] };
    return (await database.select<{ name: string }>(allNames, { workspaceId })).map(({ name }) => name);
  };
  expect(await names()).toEqual([]);
  expect(await names(other.id)).toEqual(['of the other workspace']);
  await expect
    .poll(async () => (await names(workspace.id)).toSorted(), pollOptions)
    .toEqual(['by the service', 'of this workspace']);
});

test('the CRM does not read from a replica that lags too far behind until it has caught up', async () => {
  const workspace = await fixture.createWorkspace();
  await using service = await start(1);
  await pause();
  await insert(workspace, 'new');
  await expect.poll(() => list(service, workspace), pollOptions).toContain('new');
  await expect
    .poll(() => countLogs(service, 'The replica is unavailable or too far behind'), pollOptions)
    .toBeGreaterThanOrEqual(1);
  const lagSeconds = async () => {
    const { samples } = parseMetrics((await service.send({ path: '/metrics' })).text);
    return sumOf(samples, 'db_replica_lag_seconds');
  };
  // After a failed read, the lag is unknown until the next measurement.
  await expect.poll(lagSeconds, pollOptions).toBeGreaterThan(1);

  await onReplica.sql('SELECT pg_wal_replay_resume()');
  await expect.poll(() => countLogs(service, 'The replica has caught up'), pollOptions).toBeGreaterThan(1);
  expect(await list(service, workspace)).toContain('new');
});

test('the CRM reads lists from the primary while the replica is unavailable', async () => {
  const workspace = await fixture.createWorkspace();
  await insert(workspace, 'stored');
  await using service = await start(5);
  await expect.poll(() => list(service, workspace), pollOptions).toContain('stored');
  await replica.stop();
  expect(await list(service, workspace)).toContain('stored');
  await expect.poll(() => countLogs(service, 'The replica is unavailable'), pollOptions).toBe(1);
  expect(await list(service, workspace)).toContain('stored');
  expect((await service.send({ path: '/health/ready' })).status).toBe(200);
});

test('the CRM does not read from a replica that has a later state than the primary, as after a restore of the primary', async () => {
  const startAgain = (server: LocalPostgres, from: string) =>
    startPostgres({ dataDir: from, durable: false, port: server.port });
  replica = await startAgain(replica, `${dataDir}-replica`);
  const workspace = await fixture.createWorkspace();
  await primary.stop();
  cpSync(dataDir, `${dataDir}-backup`, { recursive: true });
  primary = await startAgain(primary, dataDir);
  await insert(workspace, 'lost');
  await fixture.sql('SELECT pg_switch_wal()');
  await expect
    .poll(() => onReplica.sql(`SELECT name FROM lead WHERE workspace_id = $1`, [workspace.id]), pollOptions)
    .toEqual([{ name: 'lost' }]);
  await primary.stop();
  renameSync(dataDir, `${dataDir}-lost`);
  renameSync(`${dataDir}-backup`, dataDir);
  primary = await startAgain(primary, dataDir);
  await insert(workspace, 'new');

  await using service = await startCrmService(primary.url('leads'), {
    DATABASE_REPLICA_URL: replica.url('leads'),
  });
  // The first measurement is complete when the second one begins.
  const measurements = new Set<string>();
  await expect
    .poll(async () => {
      const rows = await onReplica.sql<{ at: string }>(
        `SELECT query_start::text AS at FROM pg_stat_activity WHERE query ~ 'SELECT .*pg_last_wal_replay_lsn[(]'
           AND application_name = 'leads-crm-reads'`,
      );
      for (const { at } of rows) measurements.add(at);
      return measurements.size;
    }, pollOptions)
    .toBeGreaterThanOrEqual(2);
  const leads = JSON.parse(await list(service, workspace)) as { name: string }[];
  expect(leads.map(({ name }) => name)).toEqual(['new']);
  expect(countLogs(service, 'The replica has caught up')).toBe(0);
});
