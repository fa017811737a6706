import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEmptyDatabase, migrations, migrationsDir, type TestDatabase } from '../../test/database.ts';
import { migrate } from '../db-admin/migrate.ts';
import { openDatabase } from './client.ts';
import { newestMigration } from './generated/newest-migration.ts';
import { SchemaCheck } from './schema-check.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

function watch(url: string) {
  const told: string[] = [];
  const opened = openDatabase({
    url,
    poolSize: 1,
    connectTimeoutMs: 2_000,
    statementTimeoutMs: 15_000,
    applicationName: 'test',
  });
  const schema = new SchemaCheck(opened, {
    onBehind: (migration) => told.push(migration),
    onLevel: () => told.push('level'),
  });
  return { schema, told, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

test('a release needs its newest migration', () => {
  expect(newestMigration).toBe(migrations.at(-1));
});

test('a database is behind until that is applied to its end, and says so once', async () => {
  await using watched = watch(database.url);
  const { schema, told } = watched;
  await expect(schema.check()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(schema.check()).rejects.toMatchObject({ code: 'unavailable' });
  await migrate({ databaseUrl: database.url, migrationsDir });
  const setFinished = (value: string) =>
    database.query(`UPDATE _prisma_migrations SET finished_at = ${value} WHERE migration_name = $1`, [
      newestMigration,
    ]);
  await setFinished('NULL');
  await expect(schema.check()).rejects.toMatchObject({ code: 'unavailable' });
  expect(told).toEqual([newestMigration]);
  await setFinished('now()');
  await schema.check();
  expect(told).toEqual([newestMigration, 'level']);
  // It has seen it, and asks no more.
  await database.query('DROP TABLE _prisma_migrations');
  await schema.check();
});

test('of a database that is away nothing is known', async () => {
  const url = new URL(database.url);
  url.port = '1';
  await using watched = watch(url.href);
  await watched.schema.check();
  expect(watched.told).toEqual([]);
});
