import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DisposeStack } from '@leads/core/dispose-stack';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { migrationsDir } from '@leads/local-stack/repository';
import pg from 'pg';
import { createMigratedDatabase, query } from '../stack/database.ts';
import { allowTraversal, temporaryDirectory } from '../stack/temporary-directory.ts';
import { formatSize } from '../table.ts';
import { fillLeads, fillVersion } from './fill.ts';

/** A Postgres with durable settings and filled databases. */
export interface FilledDatabases {
  /**
   * Returns the connection string of the database with a number of leads. The database is filled if it does
   * not exist.
   */
  open(leads: number): Promise<string>;
  readonly postgres: LocalPostgres;
  readonly dataDir: string;
}

/**
 * Starts a Postgres for filled databases.
 *
 * @param dataDir keeps the databases for the next run; without it they are in a temporary directory.
 * @param resources disposes of the started parts.
 */
export async function startFilledDatabases(
  dataDir: string | undefined,
  resources: DisposeStack,
  onProgress: (line: string) => void,
): Promise<FilledDatabases> {
  const directory =
    dataDir === undefined ? resources.use(temporaryDirectory(undefined)).path : resolve(dataDir);
  mkdirSync(directory, { recursive: true });
  allowTraversal(directory);
  const postgresDir = join(directory, 'postgres');
  const postgres = resources.use(await startPostgres({ dataDir: postgresDir }));
  const fill = async (leads: number) => {
    const name = `leads_${formatSize(leads)}`;
    const [existing] = await query<{ version: string }>(
      postgres.url('postgres'),
      `SELECT shobj_description(oid, 'pg_database') AS version FROM pg_database WHERE datname = $1`,
      [name],
    );
    if (existing?.version === dataVersion()) return postgres.url(name);
    await postgres.dropDatabase(name);
    const url = await createMigratedDatabase(postgres, name);
    onProgress(`Filling ${name}`);
    await fillLeads(url, leads, (stored) => onProgress(`  ${stored} of ${leads}`));
    await query(url, `COMMENT ON DATABASE ${pg.escapeIdentifier(name)} IS '${dataVersion()}'`);
    return url;
  };
  const opened = new Map<number, Promise<string>>();
  return {
    open(leads) {
      const url = opened.get(leads) ?? fill(leads);
      opened.set(leads, url);
      return url;
    },
    postgres,
    dataDir: postgresDir,
  };
}

/** Returns a version that changes with the filled data and with the migrations. */
function dataVersion(): string {
  const hash = createHash('sha256');
  const entries = readdirSync(migrationsDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of entries) hash.update(readFileSync(join(migrationsDir, name, 'migration.sql')));
  return `${fillVersion} ${hash.digest('hex').slice(0, 12)}`;
}
