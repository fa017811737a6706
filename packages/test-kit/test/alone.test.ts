import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@leads/core/db-admin/migrate';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import { longTimeouts, startService } from '@leads/test-kit/services';
import { migrationsDir } from '@leads/local-stack/repository';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { jwtSecret, openFixture } from '../src/fixture.ts';
import { type Answer, HttpClient } from '../src/http-client.ts';
import {
  createPath,
  DatabaseProxy,
  leadBody,
  prepareEnvironment,
  serviceNames,
  spawnService,
  type TestEnvironment,
} from '../src/running-stack.ts';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await prepareEnvironment();
});
afterAll(() => environment[Symbol.asyncDispose]());

const unavailable = { success: false, error: 'error', message: 'Service temporarily unavailable' };
const up = { status: 'ready', checks: { database: 'up' } };
const down = { status: 'unavailable', checks: { database: 'down' } };

const statusAndBody = (answer: Answer) => [answer.status, answer.json()];

/** Returns the status and the body, or the error code if the connection fails. */
const request = (client: HttpClient, path: string) =>
  client.send({ path }).then(statusAndBody, (error: NodeJS.ErrnoException) => error.code);

describe.each(serviceNames)('%s with the other service absent', (name) => {
  const prefix = name.toUpperCase();

  test('starts with secrets from files, accepts a lead, switches its log level on SIGUSR2 and back on the next one, and stops with code 0', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'leads-secrets-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const secretFiles = (['DATABASE_URL', 'JWT_SECRET'] as const).map((secret) => {
      const path = join(directory, secret);
      writeFileSync(path, `${environment.env[secret]}\n`);
      return [`${secret}_FILE`, path] as const;
    });
    const port = await freePort();
    const client = new HttpClient(port);
    const startedAt = performance.now();
    await using service = spawnService(name, {
      ...longTimeouts,
      ...Object.fromEntries(secretFiles),
      [`${prefix}_PORT`]: String(port),
      LOG_LEVEL: 'warn',
      SHUTDOWN_DELAY_MS: '0',
    });
    await expect
      .poll(() => request(client, '/health/live'), { interval: 10 })
      .toEqual([200, { status: 'live' }]);
    const durationMs = performance.now() - startedAt;
    console.log(`${name}: ${Math.round(durationMs)} ms from spawn to the first answer of /health/live`);
    await expect.poll(() => request(client, '/health/ready')).toEqual([200, up]);

    const { headers } = environment.workspace.owner;
    const body = leadBody(name, { name: `alone ${name}` });
    const created = await client.send({ method: 'POST', path: createPath[name], headers, body });
    expect(created.status).toBe(200);
    const rows = await environment.fixture.sql('SELECT source FROM lead WHERE name = $1', [`alone ${name}`]);
    expect(rows).toEqual([{ source: name }]);

    const lines = () => service.output('stdout').split('\n').slice(0, -1);
    /** Sends a request that is rejected, and returns its log lines. */
    const rejectAndReadLog = async (id: string) => {
      const answer = await client.send({
        method: 'DELETE',
        path: createPath[name],
        headers: { 'X-Request-Id': id },
      });
      expect([answer.status, answer.headers['x-request-id']]).toEqual([405, id]);
      return lines().filter((line) => line.includes(id));
    };
    const waitForSwitches = async (times: number) => {
      const switchCount = () => lines().filter((line) => line.includes('Log level switched')).length;
      await expect.poll(switchCount).toBe(times);
    };
    await rejectAndReadLog('at-warn');
    service.signal('SIGUSR2');
    await waitForSwitches(1);
    await expect.poll(() => rejectAndReadLog('at-debug')).not.toEqual([]);
    const debugLines = lines().filter((line) => line.includes('at-debug'));
    expect(debugLines.map((line) => JSON.parse(line) as unknown).slice(0, 2)).toMatchObject([
      { level: 'debug', reqId: 'at-debug', code: 'method_not_allowed', msg: 'Request rejected' },
      { level: 'info', reqId: 'at-debug', status: 405, msg: 'Request' },
    ]);
    service.signal('SIGUSR2');
    await waitForSwitches(2);
    await rejectAndReadLog('at-warn-again');

    client.close();
    service.signal('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(lines().filter((line) => line.includes('at-warn'))).toEqual([]);
  });

  test('starts while Postgres is unavailable, becomes ready without a restart, and again after a second outage', async () => {
    const port = await freePort();
    await using databaseProxy = new DatabaseProxy(environment.databaseUrl, await freePort());
    const env = {
      ...longTimeouts,
      ...environment.env,
      DATABASE_URL: databaseProxy.url,
      SHUTDOWN_DELAY_MS: '0',
    };
    await using service = spawnService(name, { ...env, [`${prefix}_PORT`]: String(port) });
    const client = new HttpClient(port);
    const create = () =>
      client.send({
        method: 'POST',
        path: createPath[name],
        headers: environment.workspace.owner.headers,
        body: leadBody(name),
      });
    const waitForReadiness = async (expected: unknown) => {
      await expect.poll(() => request(client, '/health/ready')).toEqual(expected);
    };

    await waitForReadiness([503, down]);
    expect(await request(client, '/health/live')).toEqual([200, { status: 'live' }]);
    const rejected = await create();
    expect(statusAndBody(rejected)).toEqual([503, unavailable]);
    expect(rejected.headers['retry-after']).toMatch(/^[1-9]\d*$/);

    for (let times = 0; times < 2; times++) {
      await databaseProxy.open();
      await waitForReadiness([200, up]);
      expect((await create()).status).toBe(200);

      await databaseProxy.close();
      await waitForReadiness([503, down]);
      expect(await request(client, '/health/live')).toEqual([200, { status: 'live' }]);
      expect(statusAndBody(await create())).toEqual([503, unavailable]);
    }

    client.close();
    service.signal('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.output('stderr')).toBe('');
  });

  test('keeps serving and stops with code 0 while no log line can be written', async () => {
    // Each write to this device fails with ENOSPC, as on a full disk.
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const port = await freePort();
    const env = {
      ...longTimeouts,
      ...environment.env,
      [`${prefix}_PORT`]: String(port),
      SHUTDOWN_DELAY_MS: '0',
    };
    await using service = spawnService(name, env, full);
    const client = new HttpClient(port);
    await expect.poll(() => request(client, '/health/ready')).toEqual([200, up]);
    // The log lines of these requests exceed the 8 KiB after which lines are written.
    for (let n = 0; n < 100; n++) {
      const answer = await client.send({ method: 'DELETE', path: createPath[name] });
      expect(answer.status).toBe(405);
    }
    expect(await request(client, '/health/live')).toEqual([200, { status: 'live' }]);
    client.close();
    service.signal('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  test('reports all invalid settings at once and exits with code 1', async () => {
    const { DATABASE_URL: _, ...env } = environment.env;
    await using service = spawnService(name, {
      ...env,
      JWT_SECRET: 'short',
      [`${prefix}_PORT`]: 'eighty',
      DATABASE_POOL_SIZE: '0',
      LOG_LEVEL: 'loud',
      SHUTDOWN_DELAY_MS: '-1',
    });
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.output('stdout')).toBe('');
    const [title, ...errors] = service.output('stderr').trimEnd().split('\n');
    expect(title).toBe('Invalid configuration:');
    const invalidNames = [
      'DATABASE_POOL_SIZE',
      'DATABASE_URL',
      'LOG_LEVEL',
      'SHUTDOWN_DELAY_MS',
      `${prefix}_PORT`,
      ...(name === 'crm' ? ['JWT_SECRET'] : []),
    ];
    expect(errors).toHaveLength(invalidNames.length);
    expect(new Set(errors.map((error) => error.split(' ')[0]))).toEqual(new Set(invalidNames));
    expect(service.output('stderr')).not.toContain('short');
  });

  test('reports a port in use in one line and exits with code 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    try {
      await using service = spawnService(name, { ...environment.env, [`${prefix}_PORT`]: String(port) });
      expect(await service.exited).toEqual({ code: 1, signal: null });
      expect(service.output('stderr')).toBe(`Cannot start: already in use: 127.0.0.1:${port}\n`);
    } finally {
      other.close();
    }
  });
});

describe('both services', () => {
  test('answer 503 and never 500 while Postgres is down, and recover without a restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'leads-alone-'));
    // The account of Postgres must be able to enter this directory.
    chmodSync(directory, 0o711);
    const port = await freePort();
    const start = () => startPostgres({ dataDir: join(directory, 'data'), port, durable: false });
    let postgres = await start();
    try {
      await postgres.createDatabase('leads');
      const databaseUrl = postgres.url();
      await migrate({ databaseUrl, migrationsDir });
      const fixture = openFixture(databaseUrl);
      const { owner } = await fixture.createWorkspace();
      await fixture[Symbol.asyncDispose]();

      const env = { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret };
      await using crm = await startService('crm', { env });
      await using intake = await startService('intake', { env });
      const services = [crm, intake].map(({ name, url }) => ({
        name,
        client: new HttpClient(Number(new URL(url).port)),
      }));

      /** Creates leads at both services continuously, and collects the statuses. */
      const statuses = new Set<number>();
      let writing = true;
      const writers = services.map(async ({ name, client }) => {
        while (writing) {
          const body = leadBody(name);
          const path = createPath[name];
          statuses.add((await client.send({ method: 'POST', path, headers: owner.headers, body })).status);
          await sleep(20);
        }
      });
      const readiness = () => Promise.all(services.map(({ client }) => request(client, '/health/ready')));

      await expect.poll(() => statuses.has(200)).toBe(true);
      await postgres.stop();
      await expect.poll(readiness).toEqual([
        [503, down],
        [503, down],
      ]);
      postgres = await start();
      await expect.poll(readiness).toEqual([
        [200, up],
        [200, up],
      ]);
      writing = false;
      await Promise.all(writers);
      expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 503]);
      for (const { client } of services) client.close();
    } finally {
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
