import { type Database, openDatabase } from '@leads/core/db';
import { migrate } from '@leads/core/db-admin/migrate';
import type { LocalPostgres } from '@leads/local-stack/processes/postgres';
import { migrationsDir } from '@leads/local-stack/repository';
import pg from 'pg';

/** Runs some work on a connection of its own. */
export async function withClient<Result>(
  connectionString: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  // A connection that breaks while it is idle fails the next query.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Runs one statement, or several without values, on a connection of its own. */
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

export async function countLeads(databaseUrl: string): Promise<number> {
  const [row] = await query<{ count: number }>(databaseUrl, 'SELECT count(*)::float8 AS count FROM lead');
  return row?.count ?? 0;
}

/** Removes all leads. As a replica, since the history of leads cannot be removed otherwise. */
export async function removeLeads(databaseUrl: string): Promise<void> {
  await query(
    databaseUrl,
    `BEGIN; SET LOCAL session_replication_role = replica;
    TRUNCATE lead, lead_tally, lead_tally_entry, lead_outbox CASCADE; COMMIT`,
  );
}

/** Writes out dirty pages, so that a measurement does not pay for the writes of those before. */
export async function checkpoint(postgres: LocalPostgres): Promise<void> {
  await query(postgres.url('postgres'), 'CHECKPOINT');
}

/** Opens a database as the services do, with timeouts that the slowest queries do not reach. */
export function openForBench(url: string): Database {
  return openDatabase({
    url,
    poolSize: 2,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 120_000,
    applicationName: 'leads-bench',
  });
}
