import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEmptyDatabase, migrations, migrationsDir, type TestDatabase } from '../test/database.ts';
import { openDatabase } from './db/client.ts';
import { migrate } from './db-admin/migrate.ts';
import { SchemaCheck } from './schema-check.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

function openCheck(url: string) {
  const reports: string[] = [];
  const opened = openDatabase({
    url,
    poolSize: 1,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    applicationName: 'test',
  });
  const schema = new SchemaCheck(opened, {
    onBehind: (migration) => reports.push(migration),
    onCurrent: () => reports.push('current'),
  });
  return {
    schema,
    newestMigration: opened.newestMigration,
    reports,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

test('a release needs its newest migration', async () => {
  await using opened = openCheck(database.url);
  expect(opened.newestMigration).toBe(migrations.at(-1));
});

test('reports a database as behind once, until its newest migration has finished', async () => {
  await using opened = openCheck(database.url);
  const { schema, newestMigration, reports } = opened;
  await expect(schema.check()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(schema.check()).rejects.toMatchObject({ code: 'unavailable' });
  await migrate({ databaseUrl: database.url, migrationsDir });
  const setFinished = (value: string) =>
    database.query(`UPDATE _prisma_migrations SET finished_at = ${value} WHERE migration_name = $1`, [
      newestMigration,
    ]);
  await setFinished('NULL');
  await expect(schema.check()).rejects.toMatchObject({ code: 'unavailable' });
  expect(reports).toEqual([newestMigration]);
  await setFinished('now()');
  await schema.check();
  expect(reports).toEqual([newestMigration, 'current']);
  // The check does not query the database again.
  await database.query('DROP TABLE _prisma_migrations');
  await schema.check();
});

test('the check passes while the database is unavailable', async () => {
  const url = new URL(database.url);
  url.port = '1';
  await using opened = openCheck(url.href);
  await opened.schema.check();
  expect(opened.reports).toEqual([]);
});
