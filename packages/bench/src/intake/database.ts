import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import pg from 'pg';
import { refusedName } from './lead-requests.ts';

const migrationsDir = resolve(import.meta.dirname, '../../../prisma/migrations');

/** A Postgres with durable settings, for one run. */
export interface Cluster extends AsyncDisposable {
  readonly pid: number;
  /** What decides about durability, as the server says it is set; and where commits go to. */
  readonly settings: readonly string[];
  /** A directory of this run, gone when this is disposed. */
  readonly directory: string;
  /** A new database with every migration applied. */
  createDatabase(name: string): Promise<LeadDatabase>;
  /** Writes out what is not written yet, so that nobody pays for those before. */
  checkpoint(): Promise<void>;
}

/** A database whose leads are counted and thrown away. */
export interface LeadDatabase extends AsyncDisposable {
  readonly url: string;
  count(): Promise<number>;
  empty(): Promise<void>;
  /** Puts in the place of `lead` a table of the same columns and indexes, without triggers and foreign keys. */
  simplify(): Promise<void>;
  /** Makes the database refuse leads of the name {@link refusedName}, or no longer. */
  refusePoison(refuse: boolean): Promise<void>;
  /** Makes the database note events in the outbox, as it does by itself, or leave it. */
  noteEvents(note: boolean): Promise<void>;
  /** How many of these ids are stored. */
  countStored(ids: readonly string[]): Promise<number>;
}

/** Linux's number for a file system in memory (statfs(2)). */
const tmpfs = 0x01021994;

/**
 * @param parent where the data is kept while the bench runs.
 * @param connections that must be possible at once, beside those of the services.
 */
export async function startCluster(parent: string | undefined, connections: number): Promise<Cluster> {
  if (parent !== undefined) mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(resolve(parent ?? tmpdir()), 'leads-bench-'));
  // The account that Postgres runs as has to get through to its data.
  chmodSync(directory, 0o711);
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  // Also where the process is told to end in the midst of it.
  process.once('exit', remove);
  try {
    const postgres = await startPostgres({
      dataDir: join(directory, 'postgres'),
      maxConnections: connections + 100,
    });
    const admin = new pg.Pool({ connectionString: postgres.url('postgres'), max: 1 });
    admin.on('error', () => undefined);
    const settings: string[] = [];
    for (const name of ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes']) {
      const { rows } = await admin.query<Record<string, string>>(`SHOW ${name}`);
      settings.push(`${name} ${rows[0]?.[name] ?? ''}`);
    }
    if (statfsSync(directory).type === tmpfs)
      settings.push('IN MEMORY: commits cost nothing, see --data-dir');
    return {
      pid: postgres.pid,
      settings,
      directory,
      async createDatabase(name) {
        await postgres.createDatabase(name);
        await migrate({ databaseUrl: postgres.url(name), migrationsDir });
        return openLeadDatabase(postgres.url(name));
      },
      async checkpoint() {
        await admin.query('CHECKPOINT');
      },
      async [Symbol.asyncDispose]() {
        await admin.end();
        await postgres.stop();
        remove();
        process.off('exit', remove);
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function openLeadDatabase(url: string): LeadDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on('error', () => undefined);
  return {
    url,
    async count() {
      const { rows } = await pool.query<{ count: number }>('SELECT count(*)::float8 AS count FROM lead');
      return rows[0]?.count ?? 0;
    },
    async empty() {
      // As a replica: a history that may not be emptied hangs on it.
      await pool.query(
        `BEGIN; SET LOCAL session_replication_role = replica;
        TRUNCATE lead, lead_tally, lead_tally_entry, lead_outbox CASCADE; COMMIT`,
      );
    },
    async simplify() {
      await pool.query(
        `ALTER TABLE lead RENAME TO lead_of_service; CREATE TABLE lead (LIKE lead_of_service INCLUDING ALL)`,
      );
    },
    async refusePoison(refuse) {
      await pool.query(
        refuse
          ? `ALTER TABLE lead ADD CONSTRAINT bench_poison CHECK (name <> '${refusedName}')`
          : 'ALTER TABLE lead DROP CONSTRAINT bench_poison',
      );
    },
    async noteEvents(note) {
      await pool.query('DROP RULE IF EXISTS bench_events ON lead_outbox');
      if (!note) {
        await pool.query('CREATE RULE bench_events AS ON INSERT TO lead_outbox DO INSTEAD NOTHING');
      }
    },
    async countStored(ids) {
      const { rows } = await pool.query<{ count: number }>(
        'SELECT count(*)::float8 AS count FROM lead WHERE id = ANY($1::uuid[])',
        [ids],
      );
      return rows[0]?.count ?? 0;
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
