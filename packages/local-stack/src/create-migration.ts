import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { diffMigrations } from '@leads/core/db-admin/migrate';
import { startTemporaryPostgres } from './processes/temporary-postgres.ts';

/**
 * Writes a migration with the SQL that takes the migrations that are there to what the schema says.
 *
 * @returns the path of its `migration.sql`; undefined when schema and migrations agree.
 * @throws Error when the name does not fit, or there is a migration of that name.
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
  const sql = await diffMigrations({ databaseUrl: postgres.url('postgres'), migrationsDir, schemaPath });
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
