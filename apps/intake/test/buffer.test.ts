import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLeadQuarantine, openDatabase } from '@leads/core/db';
import { migrate } from '@leads/core/db-admin/migrate';
import { replayQuarantined } from '@leads/core/lead';
import { Broker, NatsSnapshotStore } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { type Fixture, openFixture } from '@leads/test-kit/fixture';
import { longTimeouts } from '@leads/test-kit/services';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { defaultTimeouts, startIntakeService } from './intake.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-buffer-'));
const dataDir = join(directory, 'data');
const migrationsDir = join(import.meta.dirname, '../../../prisma/migrations');
let binary: string;
let postgres: LocalPostgres;
let isPostgresKilled = false;
let stacks = 0;

beforeAll(async () => {
  // The operating system user of Postgres needs access to its data directory.
  chmodSync(directory, 0o711);
  binary = await findNatsServer();
  // Committed rows must survive a kill.
  postgres = await startPostgres({ dataDir, durable: true });
  await postgres.createDatabase('template');
  await migrate({ databaseUrl: postgres.url('template'), migrationsDir });
});
afterEach(async () => {
  if (isPostgresKilled) await restartPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Sends a signal to Postgres and all its child processes. */
function signalPostgres(signal: NodeJS.Signals): void {
  const { pid } = postgres;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  for (const each of [pid, ...children.map(Number)]) {
    try {
      process.kill(each, signal);
    } catch (error) {
      // The process has just exited.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
async function killPostgres(): Promise<void> {
  signalPostgres('SIGKILL');
  await postgres.exited;
  isPostgresKilled = true;
}
async function restartPostgres(): Promise<void> {
  postgres = await startPostgres({ dataDir, durable: true, port: postgres.port });
  isPostgresKilled = false;
}

const sorted = (ids: readonly string[]) => ids.toSorted((a, b) => (a < b ? -1 : 1));

/** Stores the quarantined leads of the newest stack, as `leads quarantine replay` does. */
async function replayQuarantine({ leads }: Fixture) {
  await using database = openDatabase({
    url: postgres.url(`stack-${stacks}`),
    poolSize: 1,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    applicationName: 'leads-tests',
  });
  const quarantine = createLeadQuarantine(database);
  return await replayQuarantined({ leads, quarantine }, await quarantine.list(10));
}

/** Starts an intake with its own database and broker. */
async function startStack(settings: Record<string, string> = {}, proxied = (url: string) => url) {
  const name = `stack-${++stacks}`;
  await postgres.createDatabase(name, { template: 'template' });
  const natsOptions = { binary, dataDir: join(directory, name) };
  let nats: LocalNats = await startNats(natsOptions);
  const { port, url } = nats;
  const fixture = openFixture(postgres.url(name));
  const { owner } = await fixture.createWorkspace();
  const env = { NATS_URL: url, ...defaultTimeouts, ...settings };
  const service = await startIntakeService(proxied(postgres.url(name)), env);
  const submit = async (leadName: string, extra: object = {}, more: Record<string, string> = {}) => {
    const start = performance.now();
    const answer = await service.send({
      method: 'POST',
      path: '/api/v1/leads',
      headers: { API_KEY: owner.apiKey, ...more },
      body: { name: leadName, phone: '+1 202 555 0143', ...extra },
    });
    const id = answer.status === 200 ? answer.json<{ order_id: string }>().order_id : undefined;
    return { id, status: answer.status, headers: answer.headers, tookMs: performance.now() - start };
  };
  /** Submits a lead, so that the key and its route are cached before an outage of Postgres. */
  const warmUp = async () => expect((await submit('before')).status).toBe(200);
  await vi.waitFor(async () => expect((await readiness()).checks).toEqual({ database: 'up', buffer: 'up' }), {
    timeout: 60_000,
  });
  await warmUp();
  async function readiness() {
    const answer = await service.send({ path: '/health/ready' });
    return {
      status: answer.status,
      checks: answer.json<{ checks: Record<'database' | 'buffer', 'up' | 'down'> }>().checks,
    };
  }
  return {
    natsUrl: url,
    fixture,
    service,
    submit,
    warmUp,
    readiness,
    many: (count: number, prefix = 'lead') =>
      Promise.all(Array.from({ length: count }, (_, n) => submit(`${prefix}-${n}`))),
    metric: async (metric: string) => {
      const { text } = await service.send({ path: '/metrics' });
      return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1]);
    },
    messages: () => service.logs.entries().map(({ msg }) => msg),
    killNats: () => nats.kill(),
    restartNats: async (natsSettings?: string) => {
      nats = await startNats({ ...natsOptions, port, settings: natsSettings });
    },
    /** Waits until each accepted lead is stored, and checks that each has one event in the outbox. */
    expectStored: async (answers: readonly { readonly id: string | undefined }[]) => {
      const ids = sorted(answers.flatMap(({ id }) => id ?? []));
      await vi.waitFor(
        async () => {
          const rows = await fixture.sql<{ id: string }>('SELECT id FROM lead WHERE id = ANY($1::uuid[])', [
            ids,
          ]);
          expect(rows.length).toBe(ids.length);
        },
        { timeout: 60_000, interval: 100 },
      );
      const events = await fixture.sql<{ id: string }>(
        'SELECT entry.id FROM lead_outbox, unnest(lead_ids) AS entry (id) WHERE entry.id = ANY($1::uuid[]) ORDER BY 1',
        [ids],
      );
      expect(events.map(({ id }) => id)).toEqual(ids);
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
      await nats.stop();
    },
  };
}

test('accepts leads while Postgres is down, and stores each once after its restart', async () => {
  await using stack = await startStack();
  const { submit, many, readiness, metric } = stack;
  await killPostgres();
  const answers = [...(await many(60)), await submit('alone'), ...(await many(40, 'more'))];
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(await readiness()).toEqual({ status: 200, checks: { database: 'down', buffer: 'up' } });
  expect(await metric('lead_buffer_active')).toBe(1);
  expect(await metric('lead_buffer_buffered_total')).toBe(101);
  // Each lead takes at least 100 bytes.
  expect(await metric('lead_buffer_bytes')).toBeGreaterThan(101 * 100);
  expect(await metric('lead_buffer_messages')).toBeGreaterThan(0);
  expect(await metric('lead_buffer_oldest_wait_seconds')).toBeGreaterThan(0);

  const restarted = new Date();
  await restartPostgres();
  await stack.expectStored(answers);
  // A client that read all changes until the restart finds the leads by `updatedSince`.
  const missed = await stack.fixture.sql(
    'SELECT name FROM lead WHERE id = ANY($1::uuid[]) AND updated_at < $2',
    [answers.map(({ id }) => id), restarted],
  );
  expect(missed).toEqual([]);
  await vi.waitFor(
    async () => expect(await metric('lead_buffer_drained_total')).toBeGreaterThanOrEqual(101),
    {
      timeout: 60_000,
    },
  );
  expect(await metric('lead_buffer_active')).toBe(0);
  for (const name of ['messages', 'bytes', 'oldest_wait_seconds']) {
    await expect.poll(() => metric(`lead_buffer_${name}`)).toBe(0);
  }
  expect(await readiness()).toEqual({ status: 200, checks: { database: 'up', buffer: 'up' } });
  const after = await submit('after');
  expect(await stack.fixture.sql('SELECT FROM lead WHERE id = $1', [after.id])).toHaveLength(1);
  expect(await metric('lead_buffer_buffered_total')).toBe(101);
  const breakerMessages = stack.messages().filter((message) => String(message).startsWith('Postgres is'));
  expect(breakerMessages).toEqual([
    'Postgres is unavailable; leads are buffered',
    'Postgres is available again; leads are stored directly',
  ]);
});

test('a Postgres that does not respond delays only the first leads, by some seconds', async () => {
  // No statement times out during the test.
  await using stack = await startStack({
    DATABASE_STATEMENT_TIMEOUT_MS: longTimeouts.DATABASE_STATEMENT_TIMEOUT_MS,
  });
  const { many, submit } = stack;
  signalPostgres('SIGSTOP');
  try {
    const first = await many(40);
    expect(first.filter(({ status }) => status !== 200)).toEqual([]);
    expect(Math.max(...first.map(({ tookMs }) => tookMs))).toBeLessThan(30_000);
    const next = [];
    for (let n = 0; n < 12; n++) {
      next.push(await submit(`next-${n}`));
      // The pauses are long enough for several probes of Postgres.
      await sleep(250);
    }
    expect(next.filter(({ status }) => status !== 200)).toEqual([]);
    // Only the leads of a probe may take as long as the first leads.
    expect(next.filter(({ tookMs }) => tookMs > 1_900).length).toBeLessThan(6);
    signalPostgres('SIGCONT');
    await stack.expectStored([...first, ...next]);
    const [rows] = await stack.fixture.sql<{ count: number }>('SELECT count(*)::int AS count FROM lead');
    expect(rows?.count).toBe(1 + 40 + 12);
  } finally {
    signalPostgres('SIGCONT');
  }
});

test('buffers leads while Postgres is read-only', async () => {
  await using stack = await startStack();
  const { fixture, many, metric, readiness } = stack;
  const database = `stack-${stacks}`;
  await fixture.sql(`ALTER DATABASE "${database}" SET default_transaction_read_only = on`);
  await fixture.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leads-intake'`,
  );
  const answers = [...(await many(20)), ...(await many(20)), ...(await many(20)), ...(await many(20))];
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(await metric('lead_buffer_active')).toBe(1);
  expect(await readiness()).toEqual({ status: 200, checks: { database: 'down', buffer: 'up' } });
  await fixture.sql(
    `BEGIN READ WRITE; ALTER DATABASE "${database}" RESET default_transaction_read_only; COMMIT`,
  );
  await stack.expectStored(answers);
  expect(await metric('lead_buffer_active')).toBe(0);
});

test('buffers leads while Postgres is in recovery, and rejects no key that its old state lacks', async () => {
  await using stack = await startStack();
  const { fixture, submit } = stack;
  const { owner } = await fixture.createWorkspace();
  // A server that replays its log has the state of a backup, such as the time before this key was created.
  await fixture.sql('DELETE FROM api_key WHERE id = $1', [owner.apiKeyId]);
  await killPostgres();
  writeFileSync(join(dataDir, 'standby.signal'), '');
  await restartPostgres();
  let buffered: Awaited<ReturnType<typeof submit>>;
  try {
    expect((await submit('newer key', {}, { API_KEY: owner.apiKey })).status).toBe(503);
    buffered = await submit('known key');
    expect(buffered.status).toBe(200);
  } finally {
    await fixture.sql('SELECT pg_promote(true, 60)');
  }
  await stack.expectStored([buffered]);
});

test('a lead that Postgres rejects gets 400, or is quarantined if Postgres was down', async () => {
  await using stack = await startStack();
  const { fixture, submit, metric } = stack;
  await fixture.sql(`ALTER TABLE lead ADD CONSTRAINT poison CHECK (name NOT LIKE 'Poison%')`);
  const [refused, stored] = await Promise.all([submit('Poison'), submit('good')]);
  expect([refused.status, stored.status]).toEqual([400, 200]);
  expect(await metric('lead_buffer_buffered_total')).toBe(0);

  await killPostgres();
  const names = Array.from({ length: 30 }, (_, n) => (n % 10 === 5 ? `Poison-${n}` : `lead-${n}`));
  const answers = await Promise.all(names.map((name) => submit(name)));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  await restartPostgres();
  const isPoison = (_: unknown, n: number) => n % 10 === 5;
  await stack.expectStored(answers.filter((answer, n) => !isPoison(answer, n)));
  const quarantined = () =>
    fixture.sql<{ id: string; reason: string; name: string }>(
      `SELECT id, reason, lead->>'name' AS name FROM lead_quarantine ORDER BY id`,
    );
  await vi.waitFor(async () => expect(await quarantined()).toHaveLength(3), { timeout: 60_000 });
  const poison = sorted(answers.filter(isPoison).flatMap(({ id }) => id ?? []));
  expect((await quarantined()).map(({ id, reason }) => [id, reason])).toEqual(
    poison.map((id) => [id, '23514']),
  );
  expect(await metric('lead_buffer_quarantined_total')).toBeGreaterThanOrEqual(3);

  await fixture.sql('ALTER TABLE lead DROP CONSTRAINT poison');
  const report = await replayQuarantine(fixture);
  expect(report).toEqual({ stored: poison, refused: [] });
  await stack.expectStored(answers);
  expect(await quarantined()).toEqual([]);
});

test('a buffered lead that repeats an Idempotency-Key with other content is quarantined, and a replay stores it', async () => {
  await using stack = await startStack();
  const { fixture, submit, metric } = stack;
  const key = (text: string) => ({ 'Idempotency-Key': text });
  const before = await submit('Stored', {}, key('first'));
  await killPostgres();
  const answers = [
    await submit('Stored', {}, key('first')),
    await submit('Differs from a stored lead', {}, key('first')),
    await submit('Buffered', {}, key('second')),
    await submit('Buffered', {}, key('second')),
    await submit('Differs from a buffered lead', {}, key('second')),
    await submit('Differs from both', {}, key('second')),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const ids = [before.id, before.id, ...Array.from({ length: 4 }, () => answers[2]?.id)];
  expect(answers.map(({ id }) => id)).toEqual(ids);

  await restartPostgres();
  await stack.expectStored([before, ...answers.slice(2, 3)]);
  const quarantined = () =>
    fixture.sql<{ id: string; reason: string; name: string }>(
      `SELECT id, reason, lead->>'name' AS name FROM lead_quarantine ORDER BY name`,
    );
  await vi.waitFor(async () => expect(await quarantined()).toHaveLength(3), { timeout: 60_000 });
  const names = async () =>
    (await fixture.sql<{ name: string }>('SELECT name FROM lead')).map(({ name }) => name).toSorted();
  // The order in which buffered leads are stored is not defined.
  const ofSecond = ['Buffered', 'Differs from a buffered lead', 'Differs from both'];
  const storedNames = await names();
  const winner = storedNames.find((name) => ofSecond.includes(name)) ?? '';
  expect(storedNames).toEqual(['before', 'Stored', winner].toSorted());
  const others = ofSecond.filter((name) => name !== winner).concat('Differs from a stored lead');
  expect(new Map((await quarantined()).map(({ name, reason }) => [name, reason]))).toEqual(
    new Map(others.map((name) => [name, 'idempotency_key_reused'])),
  );
  expect(await metric('lead_buffer_quarantined_total')).toBeGreaterThanOrEqual(3);

  const quarantinedIds = (await quarantined()).map(({ id }) => id);
  const report = await replayQuarantine(fixture);
  expect({ ...report, stored: sorted(report.stored) }).toEqual({
    stored: sorted(quarantinedIds),
    refused: [],
  });
  expect(await quarantined()).toEqual([]);
  expect(await names()).toHaveLength(6);
});

test('answers 503 without Postgres and NATS, and accepts leads after their restart', async () => {
  await using stack = await startStack();
  const { submit, many, readiness, metric } = stack;
  expect(await metric('lead_buffer_messages')).toBe(0);
  await stack.killNats();
  // Leads are stored in Postgres without NATS.
  const before = await many(10, 'without-nats');
  expect(before.filter(({ status }) => status !== 200)).toEqual([]);
  // Without NATS, the metric is absent.
  await expect.poll(() => metric('lead_buffer_messages')).toBeNaN();
  await killPostgres();
  for (const { status, headers, tookMs } of [...(await many(30, 'lost')), await submit('lost')]) {
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(tookMs).toBeLessThan(25_000);
  }
  expect(await readiness()).toEqual({ status: 503, checks: { database: 'down', buffer: 'down' } });

  await stack.restartNats();
  await vi.waitFor(async () => expect((await readiness()).status).toBe(200), { timeout: 60_000 });
  const buffered = await many(20, 'buffered');
  expect(buffered.filter(({ status }) => status !== 200)).toEqual([]);
  await restartPostgres();
  await stack.expectStored([...before, ...buffered]);
  expect(await stack.fixture.sql(`SELECT FROM lead WHERE name LIKE 'lost%'`)).toHaveLength(0);
});

test('stores leads in Postgres again after its restart, also while JetStream fails', async () => {
  await using stack = await startStack();
  const { submit, metric } = stack;
  await stack.killNats();
  await killPostgres();
  await stack.restartNats('jetstream: disabled');
  await vi.waitFor(
    async () => {
      expect((await submit('lost')).status).toBe(503);
      expect(await metric('lead_buffer_active')).toBe(1);
    },
    { timeout: 60_000 },
  );
  await restartPostgres();
  // Only a request can find that Postgres responds. The pauses are longer than the timeout of a probe.
  const after = await vi.waitFor(
    async () => {
      const answer = await submit('after');
      expect(answer.status).toBe(200);
      return answer;
    },
    { timeout: 60_000, interval: 4_000 },
  );
  expect(await metric('lead_buffer_active')).toBe(0);
  await stack.expectStored([after]);
  // A fetch that began before the restart can end later.
  await expect.poll(() => stack.messages()).toContain('The buffer of leads cannot be read; retrying');
  expect(stack.messages()).not.toContain('Buffered leads could not be stored; retrying');
});

test('a broker that is killed while the buffer is drained loses no lead', async () => {
  await using stack = await startStack();
  const { submit, metric } = stack;
  await killPostgres();
  const answers = [];
  // Sequential requests put each lead into its own message.
  for (let n = 0; n < 150; n++) answers.push(await submit(`lead-${n}`, { notes: 'x'.repeat(2_000) }));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  await restartPostgres();
  await vi.waitFor(async () => expect(await metric('lead_buffer_drained_total')).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 5,
  });
  await stack.killNats();
  await stack.restartNats();
  await stack.expectStored(answers);
});

/** A lead of 7 kB. A buffer of 1 MB has room for more than 130 of them. */
const large = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`field-${n}`, 'x'.repeat(1_000)]));

test('the only workspace fills more than half of the buffer', async () => {
  await using stack = await startStack({ INTAKE_BUFFER_MEGABYTES: '1' });
  await using broker = new Broker({ url: stack.natsUrl, name: 'test' });
  await broker.connected(60_000);
  const snapshots = new NatsSnapshotStore(broker, { replicas: 1, onError: () => undefined });
  await expect.poll(async () => (await snapshots.find())?.at).toBeDefined();
  await killPostgres();
  const answers = [];
  for (let n = 0; n < 13; n++) {
    answers.push(
      ...(await Promise.all(Array.from({ length: 10 }, (_, m) => stack.submit(`lead-${n}-${m}`, large)))),
    );
  }
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  await restartPostgres();
  await stack.expectStored(answers);
});

test('one of several workspaces fills half of the buffer, and a full buffer rejects leads of all workspaces and loses none', async () => {
  await using stack = await startStack({ INTAKE_BUFFER_MEGABYTES: '1' });
  const { fixture, submit, metric } = stack;
  const headers: Record<string, string>[] = [];
  for (let n = 0; n < 6; n++) {
    const { owner } = await fixture.createWorkspace();
    headers.push({ API_KEY: owner.apiKey });
    expect((await submit('before', {}, headers[n])).status).toBe(200);
  }
  await killPostgres();
  const answers: Awaited<ReturnType<typeof submit>>[] = [];
  /** Submits leads of a workspace until one is rejected. Returns the number of accepted leads. */
  const fill = async (of: Record<string, string> | undefined) => {
    const more: typeof answers = [];
    while (more.every(({ status }) => status === 200)) {
      more.push(...(await Promise.all(Array.from({ length: 10 }, (_, n) => submit(`lead-${n}`, large, of)))));
    }
    answers.push(...more);
    return more.filter(({ status }) => status === 200).length;
  };
  const first = await fill(headers[0]);
  // Leads are counted when they are stored, so more than half fit.
  expect(first).toBeLessThan(110);
  expect(await stack.readiness()).toEqual({ status: 200, checks: { database: 'down', buffer: 'up' } });
  expect(await fill(headers[1])).toBeGreaterThan(0);
  for (const of of headers.slice(2)) await fill(of);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
  expect(await metric('lead_buffer_refused_total')).toBeGreaterThan(0);
  await vi.waitFor(
    async () =>
      expect(await stack.readiness()).toEqual({ status: 503, checks: { database: 'down', buffer: 'down' } }),
    { timeout: 60_000 },
  );
  await restartPostgres();
  await stack.expectStored(answers);
  await vi.waitFor(async () => expect((await stack.readiness()).checks.buffer).toBe('up'), {
    timeout: 60_000,
  });
  await stack.expectStored([await submit('after', {}, headers[0])]);
});

test('a lead whose commit response is lost is answered with its id and stored once', async () => {
  await using proxy = await startProxy(postgres.port);
  await using stack = await startStack({}, (url) => {
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    return proxied.href;
  });
  const answers = [];
  for (let n = 0; n < 20; n++) {
    proxy.cutNextInsert();
    answers.push(await stack.submit(`cut-${n}`));
    // The next insert must be of a request, and not of the drainer.
    await vi.waitFor(async () => expect(await stack.metric('lead_buffer_drained_total')).toBe(n + 1), {
      timeout: 60_000,
    });
  }
  expect(proxy.cuts).toBe(20);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  await stack.expectStored(answers);
  const [row] = await stack.fixture.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM lead WHERE name LIKE 'cut%'`,
  );
  expect(row?.count).toBe(20);
});

/** Starts a proxy to Postgres. After `cutNextInsert` it closes the connection instead of forwarding the response to an insert. */
async function startProxy(postgresPort: number) {
  const sockets = new Set<Socket>();
  let isArmed = false;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(postgresPort, '127.0.0.1');
    let isCutting = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    client.on('data', (data) => {
      if (isArmed && data.includes('insert_lead')) {
        isArmed = false;
        isCutting = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!isCutting) client.write(data);
      else if (data.includes('SELECT 0')) {
        cuts += 1;
        client.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    cutNextInsert() {
      isArmed = true;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
