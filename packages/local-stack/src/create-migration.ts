import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { startTemporaryPostgres } from './processes/temporary-postgres.ts';
import { diffSchema } from './schema-engine.ts';

/**
 * Writes a migration with the SQL that takes the existing migrations to what the schema says.
 *
 * @returns the path of its `migration.sql`; undefined if schema and migrations agree.
 * @throws Error if the name is invalid, or another migration has it.
 */
export async function createMigration(options: {
  name: string;
  migrationsDir: string;
  schemaPath: string;
}): Promise<string | undefined> {
  const { name, migrationsDir, schemaPath } = options;
  if (!/^[a-z0-9_]+$/.test(name))
    throw new Error(`A migration's name consists of a-z, 0-9 and _: not ${name}`);
  const existing = readdirSync(migrationsDir)
    .filter((entry) => /^\d{14}_/.test(entry))
    .toSorted();
  const same = existing.find((entry) => entry.slice(15) === name);
  if (same !== undefined) throw new Error(`There is a migration of that name already: ${same}`);

  await using postgres = await startTemporaryPostgres();
  const databaseUrl = postgres.url('postgres');
  await migrate({ databaseUrl, migrationsDir });
  const sql = await diffSchema({ databaseUrl, schemaPath });
  if (sql === '') return undefined;

  const directory = join(migrationsDir, `${timeAfter(existing.at(-1))}_${name}`);
  mkdirSync(directory);
  const file = join(directory, 'migration.sql');
  writeFileSync(file, sql);
  return file;
}

/** Now as yyyymmddHHMMSS (UTC), or the second after the last migration where a clock ran ahead: order is by name. */
function timeAfter(last: string | undefined): string {
  const stamp = (time: number) => new Date(time).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const now = stamp(Date.now());
  if (last === undefined || last.slice(0, 14) < now) return now;
  const [, year, month, day, hour, minute, second] = /^(\d{4})(..)(..)(..)(..)(..)/.exec(last) ?? [];
  return stamp(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + 1_000);
}
