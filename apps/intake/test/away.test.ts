import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { broadcastRevocations, generateApiKey } from '@leads/core/credential';
import { migrate } from '@leads/core/db-admin/migrate';
import { Broker, Invalidations, NatsSnapshotStore } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { runLeads, type Service, startService } from '@leads/local-stack/processes/services';
import { type Fixture, openFixture, type TestMember, type TestWorkspace } from '@leads/test-kit/fixture';
import { parseMetrics, sumOf } from '@leads/test-kit/prometheus-text';
import type { RunningService } from '@leads/test-kit/running-service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIntakeService } from './intake.ts';

const migrationsDir = join(import.meta.dirname, '../../../prisma/migrations');
const directory = mkdtempSync(join(tmpdir(), 'leads-away-'));
const cluster = { dataDir: join(directory, 'postgres'), durable: false };
const broker = { dataDir: join(directory, 'nats') };
let postgres: LocalPostgres;
let nats: LocalNats;
let databaseUrl: string;
let fixture: Fixture;
let workspace: TestWorkspace;

beforeAll(async () => {
  // The account that Postgres runs as has to get through to its data.
  chmodSync(directory, 0o711);
  [postgres, nats] = await Promise.all([
    startPostgres(cluster),
    findNatsServer().then((binary) => startNats({ ...broker, binary })),
  ]);
  await postgres.createDatabase('leads');
  databaseUrl = postgres.url('leads');
  await migrate({ databaseUrl, migrationsDir });
  fixture = openFixture(databaseUrl);
  workspace = await fixture.createWorkspace();
}, 120_000);

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await Promise.all([postgres.stop(), nats.stop()]);
  rmSync(directory, { recursive: true, force: true });
});

const route = '/api/v1/leads';
const soon = { timeout: 30_000, interval: 50 };

const submit = (service: RunningService, apiKey: string, body: object) =>
  service.send({ method: 'POST', path: route, headers: { API_KEY: apiKey }, body });

/** 400 where the key is taken: the guard comes before the body. */
const knock = async (service: RunningService, apiKey: string) => submit(service, apiKey, {});

/** How many look-ups of keys came out like this. */
async function lookups(service: RunningService, result: 'miss' | 'stale'): Promise<number> {
  const { samples } = parseMetrics((await service.send({ path: '/metrics' })).text);
  return sumOf(samples, 'cache_lookups_total', { cache: 'api_key', result });
}

const lead = { name: 'Ada', phone: '+44 20 7946 0958' };

test('while Postgres is away known keys are taken, also by an instance that has just started', async () => {
  const { owner } = workspace;
  const unused = await workspace.addMember('publisher');
  const revoked = await workspace.addMember('publisher');
  await fixture.sql(`UPDATE api_key SET expires_at = now() + interval '1 day' WHERE id = $1`, [
    unused.apiKeyId,
  ]);
  const unknown = generateApiKey().apiKey;
  await using running = await startIntakeService(databaseUrl, { NATS_URL: nats.url });
  expect((await submit(running, owner.apiKey, lead)).status).toBe(200);
  expect((await knock(running, revoked.apiKey)).status).toBe(400);
  await using reader = new Broker({ url: nats.url, name: 'test' });
  await reader.connected(5_000);
  const snapshots = new NatsSnapshotStore(reader, { replicas: 1, onError: () => undefined });
  await expect.poll(async () => (await snapshots.find())?.at, soon).toBeDefined();
  const { broadcast } = new Invalidations(reader, (error) => expect.unreachable(String(error)));
  const credentials = broadcastRevocations(fixture.credentials, broadcast);
  await credentials.revokeApiKey(workspace.id, revoked.apiKeyId, new Date());
  const changedAt = Date.now();
  // Long before it is due by itself.
  const changed = { timeout: 12_000, interval: 50 };
  await expect.poll(async () => (await snapshots.find())?.at ?? 0, changed).toBeGreaterThan(changedAt);
  const kept = JSON.stringify(await snapshots.get());
  for (const { apiKeyId } of [owner, unused]) expect(kept).toContain(apiKeyId);
  expect(kept).not.toContain(revoked.apiKeyId);
  const onDisk = readdirSync(broker.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('');
  for (const { apiKey } of [owner, unused, revoked]) {
    expect(kept + onDisk).not.toContain(apiKey.slice(3, 20));
  }

  const { port } = postgres;
  await postgres.stop();
  const stale = async () => {
    expect((await knock(running, owner.apiKey)).status).toBe(400);
    return lookups(running, 'stale');
  };
  // From when the answer is no longer fresh.
  await expect.poll(stale, soon).toBeGreaterThan(1);

  await using fresh = await startIntakeService(databaseUrl, { NATS_URL: nats.url });
  await using alone = await startIntakeService(databaseUrl);
  for (const service of [running, fresh]) {
    for (const { apiKey } of [owner, unused]) expect((await knock(service, apiKey)).status).toBe(400);
    const refused = await knock(service, unknown);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await knock(service, `${unknown.slice(0, -1)}!`)).status).toBe(401);
  }
  expect((await knock(fresh, revoked.apiKey)).status).toBe(503);
  // Without a broker nobody has told it.
  expect((await knock(alone, owner.apiKey)).status).toBe(503);

  const asked = await lookups(fresh, 'miss');
  for (let n = 0; n < 200; n++) await knock(fresh, owner.apiKey);
  // A database that is known to be away is tried once in a while, and not for each of them.
  expect((await lookups(fresh, 'miss')) - asked).toBeLessThan(100);

  postgres = await startPostgres({ ...cluster, port });
  for (const service of [running, fresh, alone]) {
    await expect.poll(async () => (await submit(service, unused.apiKey, lead)).status, soon).toBe(200);
    await expect.poll(async () => (await knock(service, unknown)).status, soon).toBe(401);
    await expect.poll(async () => (await knock(service, revoked.apiKey)).status, soon).toBe(401);
  }
}, 120_000);

/** Stands between a service and Postgres, and can hold everything back without a word. */
async function startProxy(target: number) {
  let isSilent = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
      if (isSilent) from.pause();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    setSilent(is: boolean) {
      isSilent = is;
      for (const socket of sockets) {
        if (is) socket.pause();
        else socket.resume();
      }
    },
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('a Postgres that says nothing holds up known keys for half a second, and not each time', async () => {
  using proxy = await startProxy(postgres.port);
  const url = new URL(databaseUrl);
  url.port = String(proxy.port);
  await using intake = await startIntakeService(url.href);
  const { owner } = workspace;
  expect((await knock(intake, owner.apiKey)).status).toBe(400);

  proxy.setSilent(true);
  const waitsMs: number[] = [];
  const stale = async () => {
    const at = performance.now();
    expect((await knock(intake, owner.apiKey)).status).toBe(400);
    waitsMs.push(performance.now() - at);
    return lookups(intake, 'stale');
  };
  await expect.poll(stale, soon).toBeGreaterThan(40);
  // On a busy machine others may take as long by themselves.
  expect(waitsMs.filter((ms) => ms > 400).length).toBeLessThan(waitsMs.length / 2);
  const unknown = generateApiKey().apiKey;
  for (let n = 0; n < 10; n++) expect((await knock(intake, unknown)).status).toBe(503);

  proxy.setSilent(false);
  await expect.poll(async () => (await knock(intake, unknown)).status, soon).toBe(401);
  await expect.poll(async () => (await submit(intake, owner.apiKey, lead)).status, soon).toBe(200);
}, 60_000);

describe('a key that is revoked on the command line', () => {
  const statusAt = async ({ url }: Service, { headers }: TestMember) => {
    const response = await fetch(`${url}${route}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: '{}',
    });
    await response.arrayBuffer();
    return response.status;
  };

  test('is refused by every process, because it is told', async () => {
    const env = { DATABASE_URL: databaseUrl, NATS_URL: nats.url };
    await using one = await startService('intake', { env });
    await using other = await startService('intake', { env: { ...env, INTAKE_WORKERS: '2' } });
    const member = await workspace.addMember('publisher');
    const services = [one, other, other, other, other];
    const statuses = () => Promise.all(services.map((service) => statusAt(service, member)));
    expect(new Set(await statuses())).toEqual(new Set([400]));

    await runLeads(['key', 'revoke', member.apiKeyId, '--workspace', workspace.slug], env);
    // Long before an answer is asked for anew by itself, which is after 8 s.
    const within = { timeout: 5_000, interval: 20 };
    await expect.poll(async () => [...new Set(await statuses())], within).toEqual([401]);
    expect(new Set(await statuses())).toEqual(new Set([401]));
  }, 90_000);
});
