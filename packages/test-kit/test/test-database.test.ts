import { readdirSync } from 'node:fs';
import { migrationsDir } from '@leads/local-stack/repository';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createEmptyDatabase, createTestDatabase } from '../src/test-database.ts';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

test('createTestDatabase() creates separate migrated databases in parallel', async () => {
  const databases = await Promise.all(Array.from({ length: 8 }, () => createTestDatabase()));
  const migrations = readdirSync(migrationsDir).filter((name) => /^\d/.test(name));
  for (const [index, { url }] of databases.entries()) {
    expect(await query(url, 'SELECT migration_name FROM _prisma_migrations ORDER BY 1')).toEqual(
      migrations.toSorted().map((name) => ({ migration_name: name })),
    );
    await query(url, `CREATE TABLE own AS SELECT ${index} AS index`);
  }
  for (const [index, { url }] of databases.entries()) {
    expect(await query(url, 'SELECT * FROM own')).toEqual([{ index }]);
  }
  await Promise.all(databases.map((database) => database[Symbol.asyncDispose]()));
});

test('createTestDatabase() drops a database on disposal while a client is connected', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client(database.url);
  client.on('error', () => undefined);
  await client.connect();
  await database[Symbol.asyncDispose]();
  await expect(query(database.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
});

test('createEmptyDatabase() creates a database without tables', async () => {
  await using database = await createEmptyDatabase();
  const sql = `SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'`;
  expect(await query(database.url, sql)).toEqual([{ tables: 0 }]);
});
