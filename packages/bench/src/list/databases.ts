import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import pg from 'pg';
import { formatSize } from '../options.ts';
import { fillLeads, fillVersion } from './fill.ts';

const migrationsDir = resolve(import.meta.dirname, '../../../prisma/migrations');

/** A Postgres with durable settings, and in it filled databases. */
export interface Databases extends AsyncDisposable {
  /** The connection string of the database of so many leads, which is filled where it is not. */
  filled(leads: number): Promise<string>;
  /** The server of all of them. */
  readonly postgres: { readonly dataDir: string; readonly pid: number };
}

/**
 * @param dataDir keeps the databases; without it they lie in a temporary directory and go when this is disposed.
 * @param onProgress hears what goes on, line by line.
 */
export async function openDatabases(
  dataDir: string | undefined,
  onProgress: (line: string) => void,
): Promise<Databases> {
  const directory = dataDir === undefined ? mkdtempSync(join(tmpdir(), 'leads-bench-')) : resolve(dataDir);
  mkdirSync(directory, { recursive: true });
  // The account that Postgres runs as has to get through to its data.
  chmodSync(directory, 0o711);
  const remove = () => {
    if (dataDir === undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  // Also where the process is told to end in the midst of it.
  process.once('exit', remove);
  try {
    const postgresDir = join(directory, 'postgres');
    const postgres = await startPostgres({ dataDir: postgresDir });
    const fill = async (leads: number) => {
      const name = `leads_${formatSize(leads)}`;
      const url = postgres.url(name);
      if ((await describe(postgres.url('postgres'), name)) === version()) return url;
      await postgres.dropDatabase(name);
      await postgres.createDatabase(name);
      await migrate({ databaseUrl: url, migrationsDir });
      onProgress(`Filling ${name}`);
      await fillLeads(url, leads, (stored) => onProgress(`  ${stored} of ${leads}`));
      await execute(url, `COMMENT ON DATABASE ${pg.escapeIdentifier(name)} IS '${version()}'`);
      return url;
    };
    const filled = new Map<number, Promise<string>>();
    return {
      filled(leads) {
        const url = filled.get(leads) ?? fill(leads);
        filled.set(leads, url);
        return url;
      },
      postgres: { dataDir: postgresDir, pid: postgres.pid },
      async [Symbol.asyncDispose]() {
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

/** What a filled database was made of. */
function version(): string {
  const hash = createHash('sha256');
  for (const { name } of readdirSync(migrationsDir, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )) {
    hash.update(readFileSync(join(migrationsDir, name, 'migration.sql')));
  }
  return `${fillVersion} ${hash.digest('hex').slice(0, 12)}`;
}

async function describe(adminUrl: string, name: string): Promise<unknown> {
  const [row] = await execute(
    adminUrl,
    `SELECT shobj_description(oid, 'pg_database') AS text FROM pg_database WHERE datname = '${name}'`,
  );
  return row?.['text'];
}

async function execute(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
