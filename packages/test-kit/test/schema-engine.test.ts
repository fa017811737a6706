import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, migrationState } from '@leads/core/db-admin/migrate';
import { migrationsDir, schemaPath } from '@leads/local-stack/repository';
import { diffSchema, schemaFilters, withSchemaEngine } from '@leads/local-stack/schema-engine';
import pg from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createEmptyDatabase, createTestDatabase } from '../src/test-database.ts';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'leads-schema-test-'));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
});

describe('the schema and the migrations', () => {
  test('agree', async () => {
    await using database = await createTestDatabase();
    expect(await diffSchema({ databaseUrl: database.url, schemaPath })).toBe('');
  });

  test.each([
    [
      'an additional column',
      /  phone {7}String\n/,
      '$&  nickname    String?\n',
      /ADD COLUMN\s+"nickname" TEXT/,
    ],
    ['a missing column', /  street {6}String\?\n/, '', /DROP COLUMN "street"/],
    ['an additional index', /  @@map\("lead"\)/, '  @@index([s1])\n$&', /CREATE INDEX .*"s1"/],
    ['an additional value of an enum', /  Approved\n/, '$&  Lost\n', /ADD VALUE 'Lost'/],
  ])('differ if the schema has %s', async (_what, find, replacement, expected) => {
    const schema = readFileSync(schemaPath, 'utf8');
    const changed = schema.replace(find, replacement);
    expect(changed).not.toBe(schema);
    const path = join(scratch, 'schema.prisma');
    writeFileSync(path, changed);
    await using database = await createTestDatabase();
    expect(await diffSchema({ databaseUrl: database.url, schemaPath: path })).toMatch(expected);
  });

  test('differ if the database has an additional migration', async () => {
    await using database = await createTestDatabase();
    await execute(database.url, 'CREATE TABLE more (id INT PRIMARY KEY)');
    expect(await diffSchema({ databaseUrl: database.url, schemaPath })).toMatch(/DROP TABLE "more"/);
  });
});

describe('the migration history of `leads migrate` and of Prisma is the same:', () => {
  const next = '20270101000000_next';
  const columns = `
    SELECT attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid)
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = '_prisma_migrations'::regclass AND attnum > 0 ORDER BY attnum`;
  const constraints = `SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = '_prisma_migrations'::regclass ORDER BY conname`;
  const row = `SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count,
      finished_at IS NOT NULL AS "isFinished" FROM _prisma_migrations`;

  /** Creates a directory of migrations that has only `next`. */
  function createMigrations(sql: string): string {
    const directory = join(scratch, 'migrations');
    mkdirSync(join(directory, next), { recursive: true });
    cpSync(join(migrationsDir, 'migration_lock.toml'), join(directory, 'migration_lock.toml'));
    writeFileSync(join(directory, next, 'migration.sql'), sql);
    return directory;
  }

  test('Prisma finds no migration to apply after `leads migrate`', async () => {
    await using database = await createTestDatabase();
    await withSchemaEngine(database.url, async (engine) => {
      const migrationsList = readMigrations(migrationsDir);
      const state = { migrationsList, optInToShadowDatabase: false, filters: schemaFilters };
      expect(await engine.diagnoseMigrationHistory(state)).toEqual({
        editedMigrationNames: [],
        failedMigrationNames: [],
        hasMigrationsTable: true,
        history: null,
      });
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList,
        filters: schemaFilters,
      });
      expect(appliedMigrationNames).toEqual([]);
    });
  });

  test('`leads migrate` finds no migration to apply after Prisma, and writes the same table', async () => {
    const directory = createMigrations('-- ünïcode 😀\r\nCREATE TABLE next (id INT);');
    await using byPrisma = await createEmptyDatabase();
    await withSchemaEngine(byPrisma.url, (engine) =>
      engine.applyMigrations({ migrationsList: readMigrations(directory), filters: schemaFilters }),
    );
    expect(await migrationState({ databaseUrl: byPrisma.url, migrationsDir: directory })).toEqual({
      pending: [],
      ahead: [],
    });
    expect((await migrate({ databaseUrl: byPrisma.url, migrationsDir: directory })).applied).toEqual([]);

    await using byLeads = await createEmptyDatabase();
    expect((await migrate({ databaseUrl: byLeads.url, migrationsDir: directory })).applied).toEqual([next]);
    for (const sql of [columns, constraints, row]) {
      expect(await execute(byLeads.url, sql)).toEqual(await execute(byPrisma.url, sql));
    }
  });

  test('neither tool applies a migration after a failure of the other', async () => {
    await using database = await createTestDatabase();
    await execute(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES (gen_random_uuid(), 'x', '${next}')`,
    );
    const directory = createMigrations('SELECT 1;');
    const failure = new RegExp(next);
    await expect(migrate({ databaseUrl: database.url, migrationsDir: directory })).rejects.toThrow(failure);
    await withSchemaEngine(database.url, (engine) =>
      expect(
        engine.applyMigrations({ migrationsList: readMigrations(directory), filters: schemaFilters }),
      ).rejects.toThrow(failure),
    );
  });
});

/** Returns the migrations in the form that the engine expects. */
function readMigrations(directory: string) {
  const names = readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  return {
    baseDir: directory,
    lockfile: {
      path: 'migration_lock.toml',
      content: readFileSync(join(directory, 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: names.toSorted().map((name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok' as const, value: readFileSync(join(directory, name, 'migration.sql'), 'utf8') },
      },
    })),
  };
}

async function execute(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
