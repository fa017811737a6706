import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startPostgres } from './postgres.ts';
import { repairInstallation, postgresBinaries } from './postgres-binaries.ts';
import { postgresFailure } from './postgres-failure.ts';
import { processStart, waitForEnd } from './process-identity.ts';

const isRoot = process.getuid?.() === 0;

let directory: string;
let dataDir: string;
let notices: string[];
const onNotice = (line: string) => notices.push(line);

/**
 * A started and stopped cluster that the tests copy, because creating a cluster takes longer than most tests.
 */
const preparedDirectory = mkdtempSync(join(tmpdir(), 'leads-postgres-test-'));
const prepared = join(preparedDirectory, 'cluster');
beforeAll(async () => (await startPostgres({ dataDir: prepared, durable: false })).stop());
afterAll(() => rmSync(preparedDirectory, { recursive: true, force: true }));

function copyCluster(to: string): void {
  for (const suffix of ['', '.password']) spawnSync('cp', ['-a', prepared + suffix, to + suffix]);
}

beforeEach(() => {
  // As root this directory has mode 0700, so the Postgres user cannot enter it. A clone below /root is the
  // same case.
  directory = mkdtempSync(join(tmpdir(), 'leads-postgres-test-'));
  dataDir = join(directory, 'cluster');
  notices = [];
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

test('startPostgres() starts a durable UTF-8 server on a free port of 127.0.0.1', async () => {
  await using postgres = await startPostgres({ dataDir });
  await postgres.createDatabase('leads');
  const [settings] = await query(
    postgres.url(),
    `SELECT current_user AS user_name, current_database() AS database, current_setting('listen_addresses') AS host,
      current_setting('unix_socket_directories') AS sockets, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
      current_setting('full_page_writes') AS pages, 'ä' < 'z' AS is_dictionary_order, upper('ä') AS upper`,
  );
  expect(settings).toEqual({
    user_name: 'leads',
    database: 'leads',
    host: '127.0.0.1',
    sockets: '',
    encoding: 'UTF8',
    fsync: 'on',
    commit: 'on',
    pages: 'on',
    is_dictionary_order: false,
    upper: 'Ä',
  });
});

test('startPostgres() requires a password, stored in a file that only its owner can read', async () => {
  copyCluster(dataDir);
  await using postgres = await startPostgres({ dataDir, durable: false });
  const url = new URL(postgres.url('postgres'));
  expect(readFileSync(`${dataDir}.password`, 'utf8')).toBe(url.password);
  expect(statSync(`${dataDir}.password`).mode & 0o777).toBe(0o600);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  url.password = 'wrong';
  await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
});

test('startPostgres() keeps the data across a restart', async () => {
  copyCluster(dataDir);
  {
    await using postgres = await startPostgres({ dataDir, durable: false });
    await postgres.createDatabase('leads');
    await query(postgres.url(), 'CREATE TABLE kept AS SELECT 42 AS answer');
  }
  await using postgres = await startPostgres({ dataDir, durable: false, onNotice });
  expect(await query(postgres.url(), 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  expect(notices).toEqual([]);
});

test('stop() leaves no process and no lock file while clients are connected', async () => {
  copyCluster(dataDir);
  const postgres = await startPostgres({ dataDir, durable: false });
  const client = new pg.Client(postgres.url('postgres'));
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  await postgres.stop();
  await postgres.stop();
  expect(await waitForEnd(postgres.pid, 0)).toBe(true);
  expect(existsSync(join(dataDir, 'postmaster.pid'))).toBe(false);
});

test('startPostgres() recovers committed data after SIGKILL', async () => {
  copyCluster(dataDir);
  const killed = await startPostgres({ dataDir });
  await killed.createDatabase('leads');
  await query(killed.url(), 'CREATE TABLE kept AS SELECT 42 AS answer');
  process.kill(killed.pid, 'SIGKILL');
  expect(await killed.exited).toBe(`Postgres has ended: see ${dataDir}.log`);

  await using postgres = await startPostgres({ dataDir, onNotice });
  expect(await query(postgres.url(), 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  expect(notices).toEqual([expect.stringContaining('was not shut down')]);
});

test('startPostgres() starts if another process has the pid of a killed server', async () => {
  copyCluster(dataDir);
  const killed = await startPostgres({ dataDir, durable: false });
  process.kill(killed.pid, 'SIGKILL');
  await killed.exited;
  // A process of the same user, since Postgres ignores processes that it may not signal.
  const other = spawn('sleep', ['60'], isRoot ? { uid: statSync(dataDir).uid } : {});
  try {
    const file = join(dataDir, 'postmaster.pid');
    writeFileSync(file, readFileSync(file, 'utf8').replace(String(killed.pid), String(other.pid)));
    await using postgres = await startPostgres({ dataDir, durable: false, onNotice });
    expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(processStart(other.pid ?? 0)).toBeDefined();
  } finally {
    other.kill('SIGKILL');
  }
});

test('startPostgres() stops the server of a killed run first', async () => {
  copyCluster(dataDir);
  const orphan = await startPostgres({ dataDir, durable: false });
  await using postgres = await startPostgres({ dataDir, durable: false, onNotice });
  expect(await waitForEnd(orphan.pid, 0)).toBe(true);
  expect(notices).toEqual([expect.stringContaining(`pid ${orphan.pid}`)]);
  expect(await query(postgres.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('startPostgres() creates the cluster again if its creation was interrupted', async () => {
  mkdirSync(`${dataDir}.new-cut`, { recursive: true });
  mkdirSync(dataDir);
  await using _ = await startPostgres({ dataDir, durable: false });
  expect(readdirSync(directory).toSorted()).toEqual(['cluster', 'cluster.log', 'cluster.password']);
});

test('createDatabase() clones a database, and dropDatabase() drops it twice without an error', async () => {
  copyCluster(dataDir);
  await using postgres = await startPostgres({ dataDir, durable: false });
  await postgres.createDatabase('first');
  await query(postgres.url('first'), 'CREATE TABLE cloned AS SELECT 1 AS one');
  await postgres.createDatabase('second-"quoted', { template: 'first' });
  expect(await query(postgres.url('second-"quoted'), 'SELECT * FROM cloned')).toEqual([{ one: 1 }]);
  await expect(postgres.createDatabase('first')).rejects.toMatchObject({ code: '42P04' });

  const client = new pg.Client(postgres.url('first'));
  client.on('error', () => undefined);
  await client.connect();
  await postgres.dropDatabase('first');
  await postgres.dropDatabase('first');
  await expect(query(postgres.url('first'), 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
});

test('startPostgres() reports a port in use in one line', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = (server.address() as { port: number }).port;
  try {
    await expect(startPostgres({ dataDir, port, durable: false })).rejects.toThrow(
      `Port ${port} is in use: Postgres cannot listen on it`,
    );
  } finally {
    server.close();
  }
});

test('startPostgres() rejects another Postgres on its port, although the password is the same', async () => {
  const otherDir = join(directory, 'other');
  for (const each of [dataDir, otherDir]) copyCluster(each);
  await using other = await startPostgres({ dataDir: otherDir, durable: false });
  await expect(startPostgres({ dataDir, port: other.port, durable: false })).rejects.toThrow('is in use');
});

test('startPostgres() reports data of another major version in one line', async () => {
  copyCluster(dataDir);
  writeFileSync(join(dataDir, 'PG_VERSION'), '14\n');
  await expect(startPostgres({ dataDir })).rejects.toThrow(
    /was created by Postgres 14, but this is Postgres 18/,
  );
});

test('startPostgres() reports a directory without a cluster and a missing password file in one line each', async () => {
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'holiday.jpg'), '');
  await expect(startPostgres({ dataDir })).rejects.toThrow(/not a Postgres cluster/);
  rmSync(dataDir, { recursive: true });

  copyCluster(dataDir);
  rmSync(`${dataDir}.password`);
  await expect(startPostgres({ dataDir })).rejects.toThrow(/\.password, the password of .* is missing/);
});

test('startPostgres() restores the mode of the data directory', async () => {
  copyCluster(dataDir);
  chmodSync(dataDir, 0o755);
  await using _ = await startPostgres({ dataDir, durable: false });
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test('postgresFailure() returns the reason for a full disk and for any other fatal error', () => {
  const facts = { dataDir: '/data', port: 5432 };
  expect(postgresFailure('initdb: error: could not write: No space left on device', facts)).toBe(
    'No space left on device: Postgres cannot write to /data',
  );
  expect(postgresFailure('2026 UTC [7] LOG:  hello\n2026 UTC [7] FATAL:  out of luck\n', facts)).toBe(
    'Postgres: out of luck',
  );
  expect(postgresFailure('2026 UTC [7] LOG:  hello\n', facts)).toBe(undefined);
});

test('a Postgres server ends if the process that started it exits or is killed', async () => {
  copyCluster(dataDir);
  for (const ending of ['process.exit(3)', "process.kill(process.pid, 'SIGKILL')"]) {
    // The built module, since a plain Node process cannot load the source.
    const module = new URL('../../dist/processes/postgres.js', import.meta.url).href;
    const script = `
      const { startPostgres } = await import(${JSON.stringify(module)});
      const postgres = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, durable: false });
      process.stdout.write(String(postgres.pid), () => ${ending});`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(Number(stdout)).toBeGreaterThan(1);
    expect(await waitForEnd(Number(stdout), 60_000)).toBe(true);
  }
});

test('repairInstallation() repairs a package whose install script did not run', async () => {
  const { postgres } = await postgresBinaries();
  const packageDir = join(directory, 'package');
  const native = join(packageDir, 'native');
  cpSync(dirname(dirname(postgres)), native, { recursive: true, verbatimSymlinks: true });
  const { links, binaries } = unheal(packageDir);

  const broken = spawnSync(binaries.postgres, ['--version']);
  expect(broken.status).not.toBe(0);
  repairInstallation(packageDir, binaries);
  repairInstallation(packageDir, binaries);
  expect(spawnSync(binaries.postgres, ['--version'], { encoding: 'utf8' }).stdout).toContain(
    '(PostgreSQL) 18',
  );
  for (const link of links) expect(existsSync(join(packageDir, link))).toBe(true);
});

function unheal(packageDir: string) {
  const list = readFileSync(join(packageDir, 'native/pg-symlinks.json'), 'utf8');
  const links = (JSON.parse(list) as { target: string }[]).map(({ target }) => target);
  for (const link of links) rmSync(join(packageDir, link));
  const binary = (name: string) => join(packageDir, 'native/bin', name);
  const binaries = { postgres: binary('postgres'), initdb: binary('initdb'), pg_ctl: binary('pg_ctl') };
  for (const file of Object.values(binaries)) chmodSync(file, 0o644);
  return { links, binaries };
}

if (isRoot) {
  test('startPostgres() as root runs the server as an unprivileged user that owns the data', async () => {
    await using postgres = await startPostgres({ dataDir, durable: false });
    const uid = statSync(dataDir).uid;
    expect(uid).not.toBe(0);
    expect(statSync(`/proc/${postgres.pid}`).uid).toBe(uid);
    expect(statSync(directory).uid).toBe(0);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test('startPostgres() as root changes the owner of the data of an ordinary user', async () => {
    copyCluster(dataDir);
    spawnSync('chown', ['-R', '4242:4242', dataDir]);
    await using _ = await startPostgres({ dataDir, durable: false });
    expect(statSync(dataDir).uid).not.toBe(4242);
    expect(statSync(join(dataDir, 'base', '1', 'PG_VERSION')).uid).toBe(statSync(dataDir).uid);
  });

  test('startPostgres() as an ordinary user creates a cluster, and names the owner of a foreign one', async () => {
    const module = new URL('../../dist/processes/postgres.js', import.meta.url).href;
    const start = (path: string) => {
      const script = `
        const { startPostgres } = await import(${JSON.stringify(module)});
        try {
          const postgres = await startPostgres({ dataDir: ${JSON.stringify(path)}, durable: false });
          await postgres.stop();
          console.log('started');
        } catch (error) {
          console.log(error.message);
        }`;
      const options = { uid: 65534, gid: 65534, encoding: 'utf8', cwd: '/' } as const;
      return spawnSync(process.execPath, ['--input-type=module', '-e', script], options).stdout.trim();
    };
    chmodSync(directory, 0o755);
    const own = join(directory, 'own');
    mkdirSync(own);
    chownSync(own, 65534, 65534);
    expect(start(join(own, 'cluster'))).toBe('started');

    copyCluster(dataDir);
    chownSync(dataDir, 4242, 4242);
    expect(start(dataDir)).toMatch(
      /cluster belongs to the user 4242: start as that user or as root, or change its owner/,
    );
  });
}
