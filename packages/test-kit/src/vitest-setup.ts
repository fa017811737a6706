import { migrate } from '@leads/core/db-admin/migrate';
import type { TestPostgres } from '@leads/core/testing/database';
import { startTemporaryPostgres } from '@leads/local-stack/processes/temporary-postgres';
import { migrationsDir } from '@leads/local-stack/repository';
import type { TestProject } from 'vitest/node';

const templateDatabase = 'leads_template';

/**
 * Starts one Postgres for the whole test run (global setup of Vitest), with one migrated database that test
 * files clone.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startTemporaryPostgres();
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
