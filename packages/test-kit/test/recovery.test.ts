import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import { migrationsDir, repositoryRoot } from '@leads/local-stack/repository';
import pg from 'pg';
import { afterAll, expect, test, vi } from 'vitest';
import { openFixture, type TestWorkspace } from '../src/fixture.ts';
import { createPath, leadBody, spawnService } from '../src/running-stack.ts';
import { longTimeouts } from '../src/services.ts';

// Five server starts on disk, in parallel with other tests.
const root = mkdtempSync(join(tmpdir(), 'leads-recovery-'));
chmodSync(root, 0o711);
afterAll(() => rmSync(root, { recursive: true, force: true }));
const directory = (name: string) => join(root, name);
const archive = directory('archive');
mkdirSync(archive);
chmodSync(archive, 0o777);
const erasureLog = directory('erasures.jsonl');

async function query<Row extends pg.QueryResultRow>(client: pg.Client, sql: string): Promise<Row[]> {
  return (await client.query<Row>(sql)).rows;
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Copies the data directory of a running server, as the "low level API" of PostgreSQL does. */
async function takeBaseBackup(url: string, dataDir: string, to: string): Promise<void> {
  // The backup ends with its connection.
  const client = await connected(url);
  await client.query(`SELECT pg_backup_start('base', fast => true)`);
  const excluded = new Set(['postmaster.pid', 'postmaster.opts', 'pg_wal']);
  cpSync(dataDir, to, { recursive: true, filter: (path) => !excluded.has(relative(dataDir, path)) });
  mkdirSync(join(to, 'pg_wal'), { mode: 0o700 });
  const [label] = await query<{ labelfile: string }>(client, 'SELECT labelfile FROM pg_backup_stop()');
  writeFileSync(join(to, 'backup_label'), label?.labelfile ?? '');
  await client.end();
}

/**
 * Starts a server on a base backup and replays the write-ahead log.
 *
 * @param lostDir the lost data directory. Only its `pg_wal` is used, as if it were on another volume.
 */
async function restore(backup: string, lostDir: string, to: string, target: readonly string[]) {
  cpSync(backup, to, { recursive: true });
  copyFileSync(`${directory('data')}.password`, `${to}.password`);
  for (const { name, parentPath } of readdirSync(join(lostDir, 'pg_wal'), { withFileTypes: true })) {
    if (/^[0-9A-F]{24}$/.test(name)) copyFileSync(join(parentPath, name), join(to, 'pg_wal', name));
  }
  const settings = [`restore_command = 'cp "${archive}/%f" "%p"'`, `archive_mode = 'off'`, ...target];
  appendFileSync(join(to, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  writeFileSync(join(to, 'recovery.signal'), '');
  const postgres = await startPostgres({ dataDir: to });
  const client = await connected(postgres.url());
  await vi.waitFor(
    async () =>
      expect(await query(client, 'SELECT pg_is_in_recovery() AS "isInRecovery"')).toEqual([
        { isInRecovery: false },
      ]),
    { timeout: 60_000, interval: 50 },
  );
  return {
    url: postgres.url(),
    storedIds: async () => (await query<{ id: string }>(client, 'SELECT id FROM lead')).map(({ id }) => id),
    query: (sql: string) => query(client, sql),
    async [Symbol.asyncDispose]() {
      await client.end();
      await postgres.stop();
    },
  };
}

/** Starts an intake, and returns a client for it. */
async function startIntake(databaseUrl: string, { owner }: TestWorkspace) {
  const port = await freePort();
  const env = { ...longTimeouts, DATABASE_URL: databaseUrl, INTAKE_PORT: String(port) };
  const service = spawnService('intake', env);
  const base = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => expect((await fetch(`${base}/health/ready`)).status).toBe(200), {
    timeout: 60_000,
    interval: 50,
  });
  return {
    /** Creates leads. @returns the ids of the acknowledged ones. */
    async createLeads(names: readonly string[]): Promise<string[]> {
      const ids: string[] = [];
      for (const name of names) {
        const answer = await fetch(`${base}${createPath.intake}`, {
          method: 'POST',
          headers: { API_KEY: owner.apiKey, 'Content-Type': 'application/json' },
          body: JSON.stringify(leadBody('intake', { name, phone: `+1 202 555 01${ids.length + 10}` })),
        });
        const { success, order_id: id } = (await answer.json()) as { success: boolean; order_id: string };
        expect(success).toBe(true);
        ids.push(id);
      }
      return ids;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

async function leads(databaseUrl: string, ...args: string[]): Promise<{ code: unknown; answer: unknown }> {
  const program = join(repositoryRoot, 'apps/crm/bin/leads.js');
  const child = spawn(process.execPath, [program, ...args, '--json'], {
    env: {
      PATH: process.env['PATH'],
      ...longTimeouts,
      DATABASE_URL: databaseUrl,
      ERASURE_SECRET: 'x'.repeat(32),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const [code] = (await once(child, 'close')) as unknown[];
  return { code, answer: JSON.parse(stdout) };
}

async function erase(databaseUrl: string, ...args: string[]): Promise<unknown> {
  const options = ['--yes', '--without-events', '--log', erasureLog];
  const { code, answer } = await leads(databaseUrl, 'erase', ...args, ...options);
  expect(code).toBe(0);
  return answer;
}

test('after a restore all acknowledged leads exist, and erased leads are erased again', async () => {
  const dataDir = directory('data');
  const first = await startPostgres({ dataDir });
  await first.createDatabase('leads');
  await migrate({ databaseUrl: first.url(), migrationsDir });
  const admin = await connected(first.url());
  await admin.query(`ALTER SYSTEM SET archive_mode = 'on'`);
  await admin.query(
    `ALTER SYSTEM SET archive_command = 'test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"'`,
  );
  await admin.end();
  await first.stop();

  const postgres = await startPostgres({ dataDir });
  const url = postgres.url();
  const fixture = openFixture(url);
  const workspace = await fixture.createWorkspace();
  const intake = await startIntake(url, workspace);
  const before = await intake.createLeads(['Ada', 'Bob']);
  await takeBaseBackup(url, dataDir, directory('backup'));
  const since = await intake.createLeads(['Cleo', 'Dan', 'Eve']);
  const [erasedId = '', ...kept] = [...before, ...since];
  await fixture.sql(`SELECT pg_switch_wal()`);
  await fixture.sql(`SELECT pg_create_restore_point('before_erasure')`);
  expect(await erase(url, '--id', erasedId)).toMatchObject({ erased: { leads: 1 }, left: { leads: 0 } });
  await vi.waitFor(
    async () =>
      expect(await leads(url, 'backup-check')).toMatchObject({
        code: 0,
        answer: { archiveMode: 'on', faults: [] },
      }),
    { timeout: 60_000 },
  );
  await vi.waitFor(
    async () => expect(await leads(url, 'backup-check', '--max-age', '1s')).toMatchObject({ code: 1 }),
    { timeout: 60_000 },
  );
  const last = await intake.createLeads(['Fay', 'Gil']);

  // The machine fails after it acknowledged the last lead. Of the data directory only the log survives.
  process.kill(postgres.pid, 'SIGKILL');
  await postgres.exited;
  await intake[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  const lost = directory('lost');
  renameSync(dataDir, lost);
  expect(readdirSync(archive).length).toBeGreaterThan(0);

  {
    await using latest = await restore(directory('backup'), lost, directory('latest'), []);
    expect((await latest.storedIds()).toSorted()).toEqual([...kept, ...last].toSorted());
    // The restored database accepts leads.
    await using again = await startIntake(latest.url, workspace);
    const [id] = await again.createLeads(['Hal']);
    expect(await latest.storedIds()).toContain(id);
    expect(await leads(latest.url, 'backup-check')).toMatchObject({
      code: 1,
      answer: { faults: ['archive_mode is off: nothing is archived.'] },
    });
  }

  const target = [`recovery_target_name = 'before_erasure'`, `recovery_target_action = 'promote'`];
  await using earlier = await restore(directory('backup'), lost, directory('earlier'), target);
  // A restore to an earlier point restores the erased lead, and later leads are missing.
  expect((await earlier.storedIds()).toSorted()).toEqual([erasedId, ...kept].toSorted());
  expect(await earlier.query('SELECT FROM erasure')).toEqual([]);
  expect(existsSync(erasureLog)).toBe(true);
  expect(await erase(earlier.url, '--again')).toMatchObject({ erasures: 1, erased: { leads: 1 } });
  expect((await earlier.storedIds()).toSorted()).toEqual(kept.toSorted());
});

test('leads backup-check accepts an idle server with archive_timeout, and reports a segment that is not archived', async () => {
  const dataDir = directory('idle');
  const options = { dataDir, durable: false };
  const first = await startPostgres(options);
  await first.createDatabase('leads');
  const admin = await connected(first.url());
  const set = (client: pg.Client, setting: string, value: string) =>
    client.query(`ALTER SYSTEM SET ${setting} = '${value}'`);
  await set(admin, 'archive_mode', 'on');
  await set(admin, 'archive_command', 'true');
  await set(admin, 'archive_timeout', '1s');
  await admin.end();
  await first.stop();

  await using postgres = await startPostgres(options);
  const client = await connected(postgres.url());
  const check = () => leads(postgres.url(), 'backup-check', '--max-age', '1s');
  const until = (condition: () => Promise<unknown>) => vi.waitFor(condition, { timeout: 60_000 });
  await client.query('CREATE TABLE change ()');
  await client.query('SELECT pg_switch_wal()');
  // Postgres writes such a record every 15 s. It does not switch the segment for it.
  await until(async () => {
    const rows = await query(
      client,
      `SELECT pg_log_standby_snapshot() FROM pg_stat_archiver
       WHERE last_archived_time < clock_timestamp() - interval '1 second'`,
    );
    expect(rows).toHaveLength(1);
  });
  await until(async () => expect(await check()).toMatchObject({ code: 0, answer: { faults: [] } }));

  await set(client, 'archive_timeout', '0');
  await client.query('SELECT pg_reload_conf()');
  await until(async () =>
    expect(await check()).toMatchObject({
      code: 1,
      answer: { faults: [expect.stringContaining('set archive_timeout to 1 s')] },
    }),
  );

  await set(client, 'archive_timeout', '1s');
  await set(client, 'archive_command', '');
  await client.query('SELECT pg_reload_conf()');
  await client.query('CREATE TABLE another_change ()');
  await client.query('SELECT pg_switch_wal()');
  await until(async () =>
    expect(await check()).toMatchObject({
      code: 1,
      answer: { faults: [expect.stringMatching(/is not archived: see the server's log\.$/)] },
    }),
  );
  await client.end();
});
