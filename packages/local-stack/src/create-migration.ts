import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { startTemporaryPostgres } from './processes/temporary-postgres.ts';
import { diffSchema } from './schema-engine.ts';

/**
 * Writes a migration with the SQL that brings the existing migrations to the state of the schema.
 *
 * @returns the path of its `migration.sql`; undefined if schema and migrations agree.
 * @throws Error if the name is invalid or another migration has it.
 */
export async function createMigration(options: {
  name: string;
  migrationsDir: string;
  schemaPath: string;
}): Promise<string | undefined> {
  const { name, migrationsDir, schemaPath } = options;
  if (!/^[a-z0-9_]+$/.test(name)) throw new Error(`A migration name consists of a-z, 0-9 and _: not ${name}`);
  const existing = readdirSync(migrationsDir)
    .filter((entry) => /^\d{14}_/.test(entry))
    .toSorted();
  const same = existing.find((entry) => entry.slice(15) === name);
  if (same !== undefined) throw new Error(`A migration with this name already exists: ${same}`);

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

/**
 * Returns the current UTC time as yyyymmddHHMMSS. If a clock ran ahead, it returns the second after the last
 * migration, since migrations are ordered by name.
 */
function timeAfter(last: string | undefined): string {
  const stamp = (time: number) => new Date(time).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const now = stamp(Date.now());
  if (last === undefined || last.slice(0, 14) < now) return now;
  const [, year, month, day, hour, minute, second] = /^(\d{4})(..)(..)(..)(..)(..)/.exec(last) ?? [];
  return stamp(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + 1_000);
}
