import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@leads/local-stack/processes/free-port';
import { waitForEnd } from '@leads/local-stack/processes/process-identity';
import { runLeads, startService } from '@leads/local-stack/processes/services';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../src/test-database.ts';

test('a service is ready when it is returned, and gone when it is stopped or killed', async () => {
  await using database = await createTestDatabase();
  const env = { DATABASE_URL: database.url };
  const stopped = await startService('intake', { env });
  expect((await fetch(`${stopped.url}/health/ready`)).status).toBe(200);
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

test('a service is not returned before it is ready', async () => {
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
    await expect.poll(ready, { timeout: 20_000 }).toBe(503);
    await sleep(100);
  }
  expect(isReturned).toBe(false);
  await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await (await starting).stop();
});

test('a service can be stopped before it is ready', async () => {
  const giveUp = new AbortController();
  const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/leads' };
  const onOutput = () => giveUp.abort();
  const starting = startService('intake', { env, signal: giveUp.signal, onOutput });
  // One that had gone on until it took too long would be one that does not become ready.
  await expect(starting).rejects.toThrow('intake does not start');
});

test('a service that does not start says why', async () => {
  const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/leads', JWT_SECRET: 'short' };
  await expect(startService('crm', { env })).rejects.toThrow(/^crm does not start: [^]*JWT_SECRET/);
});

test('a service inherits nothing that configures it', async () => {
  process.env['JWT_SECRET'] = 'x'.repeat(32);
  try {
    const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/leads' };
    await expect(startService('crm', { env })).rejects.toThrow('JWT_SECRET is required');
  } finally {
    delete process.env['JWT_SECRET'];
  }
});

test('the command line returns what it prints, and fails with its one line', async () => {
  await using database = await createTestDatabase();
  const env = { DATABASE_URL: database.url };
  expect(await runLeads(['migrate'], env)).toEqual({ applied: [] });
  await expect(runLeads(['campaign', 'list', '--workspace', 'absent'], env)).rejects.toThrow(
    /^leads campaign list: [^\n]*absent[^\n]*$/,
  );
});
