import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
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
// The account that Postgres runs as has to get through to its data.
chmodSync(directory, 0o711);
const migrationsDir = resolve(import.meta.dirname, '../../../prisma/migrations');
const path = '/api/v1/order/leads';
const patience = { timeout: 30_000, interval: 50 };

let primary: LocalPostgres;
let replica: LocalPostgres;
let fixture: Fixture;
/** On the replica. */
let onReplica: Fixture;
beforeAll(async () => {
  const dataDir = join(directory, 'data');
  primary = await startPostgres({ dataDir, durable: false });
  await primary.createDatabase('leads');
  await migrate({ databaseUrl: primary.url('leads'), migrationsDir });
  // Nothing is synced to disk, but what is acknowledged is in the log, as it is by default.
  await using admin = openFixture(primary.url('leads'));
  await admin.sql('ALTER DATABASE leads SET synchronous_commit = on');
  replica = await startReplica({ primaryUrl: primary.url('postgres'), dataDir, synchronous: false });
  fixture = openFixture(primary.url('leads'), await createAccessTokenCodec(jwtSecret));
  onReplica = openFixture(replica.url('leads'));
}, 180_000);
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

const said = ({ logs }: RunningService, text: string) =>
  logs.entries().filter(({ msg }) => String(msg).startsWith(text)).length;

/** A service that reads from the replica. @param url of the primary, as another role than the owner. */
async function start(maxLagSeconds: number, url = primary.url('leads')): Promise<RunningService> {
  const service = await startCrmService(url, {
    DATABASE_REPLICA_URL: onReplicaAs(url),
    DATABASE_REPLICA_MAX_LAG_SECONDS: String(maxLagSeconds),
  });
  await expect.poll(() => said(service, 'The replica has caught up'), patience).toBe(1);
  return service;
}

/** The replica's address with the role of one of the primary's. */
function onReplicaAs(url: string): string {
  const address = new URL(url);
  address.port = new URL(replica.url('leads')).port;
  return address.href;
}

/** By someone else than the service: another process of it, or the intake. */
async function insert(workspace: TestWorkspace, name: string): Promise<void> {
  await fixture.leads.insert([workspace.lead(workspace.owner, { id: randomUUID(), name })]);
}

async function list(service: RunningService, { owner }: TestWorkspace, accept?: string): Promise<string> {
  const headers = { ...owner.headers, ...(accept !== undefined && { Accept: accept }) };
  const answer = await service.send({ path, headers });
  expect(answer.status).toBe(200);
  return answer.text;
}

/** When leads were last read from the replica; 0 for never. Only a workspace's statement runs in a transaction. */
async function lastRead(): Promise<number> {
  const [row] = await onReplica.sql<{ at: number }>(`
    SELECT coalesce(extract(epoch FROM max(query_start)), 0)::float8 AS at FROM pg_stat_activity
    WHERE application_name = 'leads-crm-reads' AND query = 'COMMIT'`);
  return row?.at ?? 0;
}

const pause = async () => {
  await onReplica.sql('SELECT pg_wal_replay_pause()');
  await expect
    .poll(() => onReplica.sql('SELECT pg_get_wal_replay_pause_state() AS is'), patience)
    .toEqual([{ is: 'paused' }]);
};

test('lists and files come from the replica; who wrote reads what it wrote', async () => {
  const workspace = await fixture.createWorkspace();
  const other = await fixture.createWorkspace();
  await insert(workspace, 'first');
  // So far behind that only what is written through the service counts.
  await using service = await start(3_600);
  for (const accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
    await expect.poll(() => list(service, workspace, accept), patience).toContain('first');
    const before = await lastRead();
    await list(service, workspace, accept);
    expect([accept, await lastRead()]).not.toEqual([accept, before]);
  }

  await pause();
  await insert(workspace, 'of another');
  await insert(other, 'of another');
  expect(await list(service, workspace)).not.toContain('of another');

  const body = { campaignCode: 'DEMO', name: 'of its own', phone: '+44 20 7946 0958' };
  const { headers } = workspace.owner;
  expect((await service.send({ method: 'POST', path, headers, body })).status).toBe(200);
  const listed = await list(service, workspace);
  expect(listed).toContain('of its own');
  expect(listed).toContain('of another');
  expect(await list(service, other)).not.toContain('of another');

  await onReplica.sql('SELECT pg_wal_replay_resume()');
  const before = await lastRead();
  await expect
    .poll(async () => {
      expect(await list(service, workspace)).toContain('of its own');
      return (await lastRead()) > before;
    }, patience)
    .toBe(true);
});

test('as its role the CRM sees one workspace there too, and writes', async () => {
  await using roles = await createServiceRoles(primary.url('leads'));
  const [workspace, other] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  await insert(workspace, 'of the one');
  await insert(other, 'of the other');
  await using service = await start(3_600, roles.crm);
  for (const accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
    await expect.poll(() => list(service, workspace, accept), patience).toContain('of the one');
    const before = await lastRead();
    expect(await list(service, workspace, accept)).not.toContain('of the other');
    expect([accept, await lastRead()]).not.toEqual([accept, before]);
  }
  expect(await list(service, other)).toContain('of the other');

  const body = { campaignCode: 'DEMO', name: 'of its own', phone: '+44 20 7946 0958' };
  const { headers } = workspace.owner;
  expect((await service.send({ method: 'POST', path, headers, body })).status).toBe(200);
  expect(await list(service, workspace)).toContain('of its own');

  await using database = openDatabase({
    url: onReplicaAs(roles.crm),
    poolSize: 1,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 5_000,
    applicationName: 'leads-tests',
  });
  const names = async (workspaceId?: string) => {
    const everyone = { text: 'SELECT name FROM lead', values: [] };
    return (await database.select<{ name: string }>(everyone, { workspaceId })).map(({ name }) => name);
  };
  expect(await names()).toEqual([]);
  expect(await names(other.id)).toEqual(['of the other']);
  await expect
    .poll(async () => (await names(workspace.id)).toSorted(), patience)
    .toEqual(['of its own', 'of the one']);
});

test('a replica that is too far behind is left alone until it has caught up', async () => {
  const workspace = await fixture.createWorkspace();
  await using service = await start(1);
  await pause();
  await insert(workspace, 'new');
  await expect.poll(() => list(service, workspace), patience).toContain('new');
  await expect
    .poll(() => said(service, 'The replica is unavailable or too far behind'), patience)
    .toBeGreaterThanOrEqual(1);
  const lagSeconds = async () => {
    const { samples } = parseMetrics((await service.send({ path: '/metrics' })).text);
    return sumOf(samples, 'db_replica_lag_seconds');
  };
  // A read that failed there leaves the lag unknown until it is found out again.
  await expect.poll(lagSeconds, patience).toBeGreaterThan(1);

  await onReplica.sql('SELECT pg_wal_replay_resume()');
  await expect.poll(() => said(service, 'The replica has caught up'), patience).toBeGreaterThan(1);
  expect(await list(service, workspace)).toContain('new');
});

test('a replica that goes away is left out, and its lists come from the primary', async () => {
  const workspace = await fixture.createWorkspace();
  await insert(workspace, 'there');
  await using service = await start(5);
  await expect.poll(() => list(service, workspace), patience).toContain('there');
  await replica.stop();
  expect(await list(service, workspace)).toContain('there');
  await expect.poll(() => said(service, 'The replica is unavailable'), patience).toBe(1);
  expect(await list(service, workspace)).toContain('there');
  expect((await service.send({ path: '/health/ready' })).status).toBe(200);
});
