import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@leads/local-stack/processes/free-port';
import { waitForEnd } from '@leads/local-stack/processes/process-identity';
import { runLeads, startService } from '@leads/test-kit/services';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../src/test-database.ts';

test('startService() returns a ready service, and its process has ended after stop() or kill()', async () => {
  await using database = await createTestDatabase();
  const env = { DATABASE_URL: database.url };
  const stopped = await startService('intake', { env });
  await expect.poll(async () => (await fetch(`${stopped.url}/health/ready`)).status).toBe(200);
  await stopped.stop();
  await stopped.stop();
  expect(await stopped.exited).toEqual({ code: 0, signal: null });
  expect(await waitForEnd(stopped.pid, 0)).toBe(true);
  expect(stopped.output()).toContain('Stopped');

  const killed = await startService('intake', { env });
  await killed.kill();
  expect(await killed.exited).toEqual({ code: null, signal: 'SIGKILL' });
  await killed.stop();
});

test('startService() does not return a service before it is ready', async () => {
  await using database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const admin = new pg.Client(inject('postgres').adminUrl);
  onTestFinished(() => admin.end());
  await admin.connect();
  await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);

  let isReturned = false;
  const port = await freePort();
  const starting = startService('intake', { env: { DATABASE_URL: database.url }, port }).then((service) => {
    isReturned = true;
    return service;
  });
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ status }) => status,
      () => 'not listening',
    );
  for (let n = 0; n < 5; n++) {
    await expect.poll(ready).toBe(503);
    await sleep(100);
  }
  expect(isReturned).toBe(false);
  await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await (await starting).stop();
});

test('startService() stops a service before it is ready if its signal aborts', async () => {
  const controller = new AbortController();
  const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/leads' };
  const onOutput = () => controller.abort();
  const starting = startService('intake', { env, signal: controller.signal, onOutput });
  // A service that ran until the timeout would fail with "does not become ready".
  await expect(starting).rejects.toThrow('intake does not start');
});

test('startService() rejects with the reason if a service does not start', async () => {
  const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/leads', JWT_SECRET: 'short' };
  await expect(startService('crm', { env })).rejects.toThrow(/^crm does not start: [^]*JWT_SECRET/);
});

test('startService() does not pass configuration of this process to a service', async () => {
  process.env['JWT_SECRET'] = 'x'.repeat(32);
  try {
    const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/leads' };
    await expect(startService('crm', { env })).rejects.toThrow('JWT_SECRET is required');
  } finally {
    delete process.env['JWT_SECRET'];
  }
});

test('runLeads() returns the parsed output, and rejects with the one-line error', async () => {
  await using database = await createTestDatabase();
  const env = { DATABASE_URL: database.url };
  expect(await runLeads(['migrate'], env)).toEqual({ applied: [] });
  await expect(runLeads(['campaign', 'list', '--workspace', 'absent'], env)).rejects.toThrow(
    /^leads campaign list: [^\n]*absent[^\n]*$/,
  );
});
