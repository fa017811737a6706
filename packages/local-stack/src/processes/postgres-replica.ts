import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { type LocalPostgres, startPostgres } from './postgres.ts';

const syncTimeoutMs = 60_000;
/**
 * Files that a base backup excludes (PostgreSQL, 25.3.4.4 "Backing Up the Data Directory"), but not their
 * directories.
 */
const excludedFiles =
  /^(?:postmaster\.(?:pid|opts)|pg_(?:wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)\/.+|.*pgsql_tmp.*|.*pg_internal\.init.*)$/;

/**
 * Creates a streaming replica of a running Postgres.
 *
 * @param options.dataDir the primary's data directory; the replica's is created beside it.
 * @param options.synchronous each commit on the primary waits for the replica.
 */
export async function startReplica(options: {
  primaryUrl: string;
  dataDir: string;
  synchronous: boolean;
}): Promise<LocalPostgres> {
  const { primaryUrl, dataDir, synchronous } = options;
  const replicaDir = join(dirname(dataDir), `${basename(dataDir)}-replica`);
  const primary = new pg.Client({ connectionString: primaryUrl });
  await primary.connect();
  try {
    // The primary keeps WAL segments until the replica requests them.
    await primary.query("ALTER SYSTEM SET wal_keep_size = '2GB'");
    await primary.query('SELECT pg_reload_conf()');
    await primary.query("SELECT pg_backup_start('replica', fast => true)");
    mkdirSync(replicaDir, { mode: 0o700 });
    copyTree(dataDir, replicaDir);
    const { rows } = await primary.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
    writeFileSync(join(replicaDir, 'backup_label'), rows[0]?.labelfile ?? '');
    writeFileSync(join(replicaDir, 'standby.signal'), '');
    const { hostname, port, username, password } = new URL(primaryUrl);
    writeFileSync(
      join(replicaDir, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password}'\n`,
    );
    copyFileSync(`${dataDir}.password`, `${replicaDir}.password`);
    const replica = await startPostgres({ dataDir: replicaDir, port: await freePort() });
    if (synchronous) {
      await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await primary.query('SELECT pg_reload_conf()');
      await waitUntilSynchronous(primary);
    }
    return replica;
  } finally {
    await primary.end();
  }
}

/** Promotes a replica to primary. */
export async function promote(replica: LocalPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: replica.url('postgres') });
  await client.connect();
  try {
    await client.query('SELECT pg_promote(true, 60)');
  } finally {
    await client.end();
  }
}

async function waitUntilSynchronous(primary: pg.Client): Promise<void> {
  const deadline = Date.now() + syncTimeoutMs;
  for (;;) {
    const { rows } = await primary.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
    if (rows.length > 0) return;
    if (Date.now() > deadline) throw new Error('The replica did not become synchronous in time');
    await sleep(50);
  }
}

/**
 * Copies a data directory. A file may disappear during the copy; the replica restores its content from the
 * WAL.
 */
function copyTree(from: string, to: string, path = ''): void {
  for (const entry of readdirSync(join(from, path), { withFileTypes: true })) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    if (excludedFiles.test(inner)) continue;
    if (entry.isDirectory()) {
      mkdirSync(join(to, inner), { mode: 0o700 });
      copyTree(from, to, inner);
    } else {
      try {
        copyFileSync(join(from, inner), join(to, inner));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }
}
