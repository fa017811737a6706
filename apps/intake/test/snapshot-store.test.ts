import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Broker, NatsSnapshotStore } from '@leads/core/nats';
import { SnapshotRefresher } from '@leads/core/snapshot';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startNats } from '@leads/local-stack/processes/nats-server';
import { afterAll, expect, test, vi } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'leads-snapshot-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const snapshot = (at: number) => ({ at, keys: [], campaigns: [], landingPages: [] });

/** Starts NATS servers. Several servers form a cluster. */
async function startServers(count: number) {
  const binary = await findNatsServer();
  const members = await Promise.all(
    Array.from({ length: count }, async () => ({ port: await freePort(), route: await freePort() })),
  );
  const routes = members.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
  const servers = await Promise.all(
    members.map(({ port, route }, index) =>
      startNats({
        binary,
        port,
        dataDir: join(directory, `${count}-${index}-${port}`),
        settings:
          count === 1
            ? 'authorization { users: [{ user: test, password: test, permissions: { publish: { deny: ["$JS.API.STREAM.UPDATE.>"] } } }] }'
            : `cluster { name: "snapshot", listen: "127.0.0.1:${route}", routes: [${routes}] }`,
      }),
    ),
  );
  const url = servers.map((server) => server.url.replace('//', '//test:test@')).join();
  const broker = new Broker({ url, name: 'test' });
  expect(await broker.connected(60_000)).toBe(true);
  return {
    broker,
    /** Opens the store as a new process does. `onError` records its errors. */
    open(replicas: number) {
      const onError = vi.fn<(error: unknown) => void>();
      return { store: new NatsSnapshotStore(broker, { replicas, onError }), onError };
    },
    replicas: async () =>
      (await (await broker.manager()).streams.info('OBJ_leads_intake')).config.num_replicas,
    async [Symbol.asyncDispose]() {
      await broker[Symbol.asyncDispose]();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

test('stores the snapshot on as many servers as configured, also if the bucket had fewer replicas', async () => {
  await using servers = await startServers(3);
  const { store: first } = servers.open(1);
  // A new cluster takes some time to elect a leader.
  await vi.waitFor(() => first.put(snapshot(1), undefined), { timeout: 60_000, interval: 200 });
  expect(await servers.replicas()).toBe(1);
  const { store, onError } = servers.open(3);
  await vi.waitFor(async () => expect(await store.get()).toEqual(snapshot(1)), { timeout: 60_000 });
  expect([await servers.replicas(), onError.mock.calls]).toEqual([3, []]);
});

test('a single server creates no bucket of 3 replicas, and uses an existing bucket as it is', async () => {
  await using servers = await startServers(1);
  await expect(servers.open(3).store.put(snapshot(1), undefined)).rejects.toMatchObject({
    code: 'unavailable',
  });

  const { store: first, onError: onFirstError } = servers.open(1);
  await first.put(snapshot(1), undefined);
  expect(onFirstError).not.toHaveBeenCalled();
  // Some versions reject the update, and this user has no permission for it in any version.
  const { store, onError } = servers.open(3);
  const stored = await store.find();
  await store.put(snapshot(2), stored?.revision);
  expect(await store.get()).toEqual(snapshot(2));
  expect(onError).toHaveBeenCalledTimes(1);
  expect(await servers.replicas()).toBe(1);
});

test('does not read the snapshot of the release before, which lacks the scopes and networks of keys', async () => {
  await using servers = await startServers(1);
  const { store } = servers.open(1);
  expect(await store.find()).toBeUndefined();
  const bucket = await servers.broker.jetStream.views.os('leads_intake');
  await bucket.putBlob({ name: 'snapshot' }, gzipSync(JSON.stringify(snapshot(1))));
  expect([await store.find(), await store.get()]).toEqual([undefined, undefined]);
  await store.put(snapshot(2), undefined);
  expect(await store.get()).toEqual(snapshot(2));
});

test('rejects a snapshot whose keys have no scopes or no networks', async () => {
  await using servers = await startServers(1);
  const { store } = servers.open(1);
  const id = '019c0a3e-0000-7000-8000-000000000001';
  const ids = { id, workspaceId: id, userId: id };
  const key = { ...ids, hash: 'x', role: 'owner' as const, allowedOrigins: [] };
  const whole = { ...key, scope: ['leads:write' as const], allowedNetworks: [] };
  await store.put({ ...snapshot(1), keys: [whole] }, undefined);
  expect((await store.get())?.keys).toEqual([whole]);
  for (const part of [
    { ...key, scope: 'full' as const },
    { ...key, allowedNetworks: [] },
  ]) {
    const revision = (await store.find())?.revision;
    await store.put({ ...snapshot(1), keys: [part as typeof whole] }, revision);
    await expect(store.get()).rejects.toMatchObject({ code: 'unavailable' });
  }
});

test('two instances whose clocks differ by 20 s replace the snapshot every 15 s, and not at every check', async () => {
  await using servers = await startServers(1);
  const { store } = servers.open(1);
  let puts = 0;
  const onError = vi.fn<(error: unknown) => void>();
  const source = { readSnapshot: async () => snapshot(Date.now()) };
  /** Starts an instance whose clock is behind. It compares times of snapshots with its clock only, so they are shifted instead. */
  const start = (behindMs: number) =>
    new SnapshotRefresher(
      source,
      {
        isConnected: true,
        async find() {
          const stored = await store.find();
          return stored && { ...stored, at: stored.at + behindMs };
        },
        put(taken, revision) {
          puts += 1;
          return store.put({ ...taken, at: taken.at - behindMs }, revision);
        },
      },
      onError,
    );
  /** Counts checks: an instance without the broker does nothing else. */
  let checks = 0;
  const disconnected = {
    get isConnected() {
      checks += 1;
      return false;
    },
    find: async () => undefined,
    put: async () => undefined,
  };

  // The clocks advance only between the rounds.
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  try {
    await using _correct = start(0);
    await using _behind = start(20_000);
    await using _counter = new SnapshotRefresher(source, disconnected, onError);
    for (let round = 0; round < 2; round++) {
      puts = 0;
      await expect.poll(() => puts).toBeGreaterThan(0);
      const enough = checks + 10;
      await expect.poll(() => checks).toBeGreaterThan(enough);
      // Both may replace the snapshot at the same time. Then the instance with the correct clock replaces it again.
      expect(puts).toBeLessThanOrEqual(3);
      vi.advanceTimersByTime(15_001);
    }
  } finally {
    vi.useRealTimers();
  }
  expect(onError).not.toHaveBeenCalled();
});
