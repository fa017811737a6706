import { migrate } from '@leads/core/migrate';
import type { TestProject } from 'vitest/node';
import { migrationsDir } from './repository.ts';
import type { TestPostgres } from './test-database.ts';
import { startThrowAwayPostgres } from './throw-away-postgres.ts';

const templateDatabase = 'leads_template';

/** Vitest's global set-up: one Postgres for the whole run, with one migrated database that test files clone. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startThrowAwayPostgres();
  try {
    await postgres.createDatabase(templateDatabase);
    await migrate({ databaseUrl: postgres.url(templateDatabase), migrationsDir });
    const facts: TestPostgres = { adminUrl: postgres.url('postgres'), templateDatabase };
    project.provide('postgres', facts);
    return () => postgres.stop();
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
