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
import { runLeads, type Service, startService } from '@leads/test-kit/services';
import { type Fixture, openFixture, type TestMember, type TestWorkspace } from '@leads/test-kit/fixture';
import { parseMetrics, sumOf } from '@leads/test-kit/prometheus-text';
import type { RunningService } from '@leads/test-kit/running-service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultTimeouts, startIntakeService } from './intake.ts';

const migrationsDir = join(import.meta.dirname, '../../../prisma/migrations');
const directory = mkdtempSync(join(tmpdir(), 'leads-stale-keys-'));
const cluster = { dataDir: join(directory, 'postgres'), durable: false };
const broker = { dataDir: join(directory, 'nats') };
let postgres: LocalPostgres;
let nats: LocalNats;
let databaseUrl: string;
let fixture: Fixture;
let workspace: TestWorkspace;

beforeAll(async () => {
  // The operating system user of Postgres needs access to its data directory.
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
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await Promise.all([postgres.stop(), nats.stop()]);
  rmSync(directory, { recursive: true, force: true });
});

const route = '/api/v1/leads';
const soon = { interval: 50 };

const submit = (service: RunningService, apiKey: string, body: object) =>
  service.send({ method: 'POST', path: route, headers: { API_KEY: apiKey }, body });

/** Sends an empty body. The status is 400 if the key is accepted, because the key is checked before the body. */
const sendEmpty = async (service: RunningService, apiKey: string) => submit(service, apiKey, {});

/** Returns the count of API key lookups with a result. */
async function lookups(service: RunningService, result: 'miss' | 'stale'): Promise<number> {
  const { samples } = parseMetrics((await service.send({ path: '/metrics' })).text);
  return sumOf(samples, 'cache_lookups_total', { cache: 'api_key', result });
}

const lead = { name: 'Ada', phone: '+44 20 7946 0958' };

test('accepts known keys while Postgres is unavailable, also in an instance that has just started', async () => {
  const { owner } = workspace;
  const unused = await workspace.addMember('publisher');
  const revoked = await workspace.addMember('publisher');
  await fixture.sql(`UPDATE api_key SET expires_at = now() + interval '1 day' WHERE id = $1`, [
    unused.apiKeyId,
  ]);
  // Each of these keys is rejected with 403, in an outage, too.
  const restricted = [
    await workspace.addMember('owner', { allowedNetworks: ['203.0.113.0/24'] }),
    await workspace.addMember('owner', { scope: ['leads:read'] }),
  ];
  const permitted = await workspace.addMember('owner', {
    allowedNetworks: ['127.0.0.1'],
    scope: ['leads:write'],
  });
  const unknown = generateApiKey().apiKey;
  await using running = await startIntakeService(databaseUrl, { NATS_URL: nats.url });
  expect((await submit(running, owner.apiKey, lead)).status).toBe(200);
  expect((await sendEmpty(running, revoked.apiKey)).status).toBe(400);
  await using reader = new Broker({ url: nats.url, name: 'test' });
  await reader.connected(60_000);
  const snapshots = new NatsSnapshotStore(reader, { replicas: 1, onError: () => undefined });
  await expect.poll(async () => (await snapshots.find())?.at, soon).toBeDefined();
  const { broadcast } = new Invalidations(reader, (error) => expect.unreachable(String(error)));
  const credentials = broadcastRevocations(fixture.credentials, broadcast);
  await credentials.revokeApiKey(workspace.id, revoked.apiKeyId, new Date());
  const changedAt = Date.now();
  // The change triggers a new snapshot, long before the next one is due.
  const promptly = { timeout: 12_000, interval: 50 };
  await expect.poll(async () => (await snapshots.find())?.at ?? 0, promptly).toBeGreaterThan(changedAt);
  const storedSnapshot = JSON.stringify(await snapshots.get());
  for (const { apiKeyId } of [owner, unused]) expect(storedSnapshot).toContain(apiKeyId);
  expect(storedSnapshot).not.toContain(revoked.apiKeyId);
  const onDisk = readdirSync(broker.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('');
  for (const { apiKey } of [owner, unused, revoked]) {
    expect(storedSnapshot + onDisk).not.toContain(apiKey.slice(3, 20));
  }

  const { port } = postgres;
  await postgres.stop();
  const stale = async () => {
    expect((await sendEmpty(running, owner.apiKey)).status).toBe(400);
    return lookups(running, 'stale');
  };
  // Stale answers are counted once the cached answer is no longer fresh.
  await expect.poll(stale, soon).toBeGreaterThan(1);

  await using fresh = await startIntakeService(databaseUrl, { NATS_URL: nats.url });
  await using alone = await startIntakeService(databaseUrl);
  // The snapshot is read through the broker.
  const ready = async () => (await fresh.send({ path: '/health/ready' })).json();
  await expect.poll(ready, soon).toMatchObject({ checks: { buffer: 'up' } });
  for (const service of [running, fresh]) {
    for (const { apiKey } of [owner, unused]) expect((await sendEmpty(service, apiKey)).status).toBe(400);
    for (const { apiKey } of restricted) expect((await sendEmpty(service, apiKey)).status).toBe(403);
    expect((await sendEmpty(service, permitted.apiKey)).status).toBe(400);
    const refused = await sendEmpty(service, unknown);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await sendEmpty(service, `${unknown.slice(0, -1)}!`)).status).toBe(401);
  }
  expect((await sendEmpty(fresh, revoked.apiKey)).status).toBe(503);
  // Without a broker, this instance has no snapshot.
  expect((await sendEmpty(alone, owner.apiKey)).status).toBe(503);

  const misses = await lookups(fresh, 'miss');
  for (let n = 0; n < 200; n++) await sendEmpty(fresh, owner.apiKey);
  // An unavailable database is queried once in a while, and not for each request.
  expect((await lookups(fresh, 'miss')) - misses).toBeLessThan(100);

  postgres = await startPostgres({ ...cluster, port });
  for (const service of [running, fresh, alone]) {
    await expect.poll(async () => (await submit(service, unused.apiKey, lead)).status, soon).toBe(200);
    await expect.poll(async () => (await sendEmpty(service, unknown)).status, soon).toBe(401);
    await expect.poll(async () => (await sendEmpty(service, revoked.apiKey)).status, soon).toBe(401);
  }
});

/** Starts a proxy between a service and Postgres. `setSilent` stops it from forwarding data. */
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

test('a Postgres that does not respond delays some requests with known keys for 0.5 s, and not every request', async () => {
  using proxy = await startProxy(postgres.port);
  const url = new URL(databaseUrl);
  url.port = String(proxy.port);
  await using intake = await startIntakeService(url.href, defaultTimeouts);
  const { owner } = workspace;
  expect((await sendEmpty(intake, owner.apiKey)).status).toBe(400);

  proxy.setSilent(true);
  const waitsMs: number[] = [];
  const stale = async () => {
    const at = performance.now();
    expect((await sendEmpty(intake, owner.apiKey)).status).toBe(400);
    waitsMs.push(performance.now() - at);
    return lookups(intake, 'stale');
  };
  await expect.poll(stale, soon).toBeGreaterThan(40);
  // On a busy machine, other requests may take as long.
  expect(waitsMs.filter((ms) => ms > 400).length).toBeLessThan(waitsMs.length / 2);
  const unknown = generateApiKey().apiKey;
  for (let n = 0; n < 10; n++) expect((await sendEmpty(intake, unknown)).status).toBe(503);

  proxy.setSilent(false);
  await expect.poll(async () => (await sendEmpty(intake, unknown)).status, soon).toBe(401);
  await expect.poll(async () => (await submit(intake, owner.apiKey, lead)).status, soon).toBe(200);
});

describe('an API key revoked on the command line', () => {
  const statusAt = async ({ url }: Service, { headers }: TestMember) => {
    const response = await fetch(`${url}${route}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: '{}',
    });
    await response.arrayBuffer();
    return response.status;
  };

  test('is rejected by every process before its cached answers expire, because the revocation is broadcast', async () => {
    const env = { DATABASE_URL: databaseUrl, NATS_URL: nats.url };
    await using one = await startService('intake', { env });
    await using other = await startService('intake', { env: { ...env, INTAKE_WORKERS: '2' } });
    const services = [one, other, other, other, other];
    const revoke = async () => {
      const member = await workspace.addMember('publisher');
      const statuses = async () => [
        ...new Set(await Promise.all(services.map((service) => statusAt(service, member)))),
      ];
      const cachedAt = performance.now();
      expect(await statuses()).toEqual([400]);
      await runLeads(['key', 'revoke', member.apiKeyId, '--workspace', workspace.slug], env);
      await expect.poll(statuses, { interval: 20 }).toEqual([401]);
      expect(await statuses()).toEqual([401]);
      return performance.now() - cachedAt;
    };
    // Cached answers expire after 8 s, so only the broadcast can be faster. A busy machine may be too slow for both.
    let tookMs = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 10 && tookMs >= 8_000; attempt++) tookMs = await revoke();
    expect(tookMs).toBeLessThan(8_000);
  });
});
