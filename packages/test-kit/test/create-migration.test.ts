import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { createMigration } from '@leads/local-stack/create-migration';
import * as repository from '@leads/local-stack/repository';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createEmptyDatabase } from '../src/test-database.ts';

let migrationsDir: string;
let schemaPath: string;

beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'leads-migration-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  migrationsDir = join(directory, 'migrations');
  schemaPath = join(directory, 'schema.prisma');
  cpSync(repository.migrationsDir, migrationsDir, { recursive: true });
  cpSync(repository.schemaPath, schemaPath);
});

test('createMigration() writes the difference between schema and migrations, ordered after the last migration', async () => {
  appendFileSync(schemaPath, '\nmodel Note {\n  id String @id @db.Uuid\n  @@map("note")\n}\n');
  mkdirSync(join(migrationsDir, '29991231235959_far_ahead'));
  appendFileSync(join(migrationsDir, '29991231235959_far_ahead/migration.sql'), 'SELECT 1;\n');

  const file = await createMigration({ name: 'add_note', migrationsDir, schemaPath });
  expect(basename(dirname(file ?? ''))).toBe('30000101000000_add_note');
  expect(readFileSync(file ?? '', 'utf8')).toContain('CREATE TABLE "note"');

  await using database = await createEmptyDatabase();
  const { applied } = await migrate({ databaseUrl: database.url, migrationsDir });
  expect(applied.at(-1)).toBe('30000101000000_add_note');
  expect(await createMigration({ name: 'add_more', migrationsDir, schemaPath })).toBe(undefined);
});

test('createMigration() names a migration after the current time', async () => {
  appendFileSync(schemaPath, '\nmodel Note {\n  id String @id @db.Uuid\n  @@map("note")\n}\n');
  const now = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const file = await createMigration({ name: 'add_note', migrationsDir, schemaPath });
  const time = basename(dirname(file ?? '')).slice(0, 14);
  expect(time >= now || firstMigration().slice(0, 14) >= now).toBe(true);
});

test('createMigration() rejects an invalid name and the name of an existing migration', async () => {
  for (const name of ['', 'Add note', '../escape', 'ä']) {
    await expect(createMigration({ name, migrationsDir, schemaPath })).rejects.toThrow(
      'consists of a-z, 0-9 and _',
    );
  }
  const taken = firstMigration();
  await expect(createMigration({ name: taken.slice(15), migrationsDir, schemaPath })).rejects.toThrow(taken);
});

function firstMigration(): string {
  const [first] = readdirSync(migrationsDir)
    .filter((name) => /^\d/.test(name))
    .toSorted();
  return first ?? '';
}
