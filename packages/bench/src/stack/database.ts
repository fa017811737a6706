import { type Database, openDatabase } from '@leads/core/db';
import { migrate } from '@leads/core/db-admin/migrate';
import type { LocalPostgres } from '@leads/local-stack/processes/postgres';
import { migrationsDir } from '@leads/local-stack/repository';
import pg from 'pg';

/** Runs `work` with a new connection. */
export async function withClient<Result>(
  connectionString: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  // A broken idle connection fails the next query.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Runs one statement, or several without values, on a new connection. */
export function query<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  sql: string,
  values?: unknown[],
): Promise<Row[]> {
  return withClient(databaseUrl, async (client) => (await client.query<Row>(sql, values)).rows);
}

/** Creates a database with every migration applied. @returns its connection string. */
export async function createMigratedDatabase(postgres: LocalPostgres, name: string): Promise<string> {
  await postgres.createDatabase(name);
  const databaseUrl = postgres.url(name);
  await migrate({ databaseUrl, migrationsDir });
  return databaseUrl;
}

/**
 * Migrates a database of a Postgres once.
 *
 * @returns a function that clones it under a name, and returns the connection string of the clone.
 */
export async function migrateTemplate(postgres: LocalPostgres): Promise<(name: string) => Promise<string>> {
  const template = 'migrated';
  await createMigratedDatabase(postgres, template);
  return async (name) => {
    await postgres.createDatabase(name, { template });
    return postgres.url(name);
  };
}

export async function countLeads(databaseUrl: string): Promise<number> {
  const [row] = await query<{ count: number }>(databaseUrl, 'SELECT count(*)::float8 AS count FROM lead');
  return row?.count ?? 0;
}

/** The SQLSTATE of a deadlock (PostgreSQL, appendix A). */
const deadlockDetected = '40P01';

/**
 * Removes all leads. It acts as a replica, since triggers forbid removing the history of leads. The background jobs of a
 * running service lock the same tables in another order. After a deadlock, the removal begins again.
 */
export async function removeLeads(databaseUrl: string): Promise<void> {
  try {
    await query(
      databaseUrl,
      `BEGIN; SET LOCAL session_replication_role = replica;
      TRUNCATE lead, lead_tally, lead_tally_entry, lead_outbox, lead_event_log CASCADE; COMMIT`,
    );
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === deadlockDetected)) throw error;
    await removeLeads(databaseUrl);
  }
}

/** Writes dirty pages to disk, so a measurement excludes the writes of earlier ones. */
export async function checkpoint(postgres: LocalPostgres): Promise<void> {
  await query(postgres.url('postgres'), 'CHECKPOINT');
}

/** Opens a database like the services, with timeouts above the duration of the slowest queries. */
export function openForBench(url: string, poolSize = 2): Database {
  return openDatabase({
    url,
    poolSize,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 120_000,
    applicationName: 'leads-bench',
  });
}
