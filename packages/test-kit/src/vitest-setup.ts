import { migrate } from '@leads/core/db-admin/migrate';
import { DisposeStack } from '@leads/core/dispose-stack';
import { createTestDatabase, type TestPostgres } from '@leads/core/testing/database';
import { startTemporaryPostgres } from '@leads/local-stack/processes/temporary-postgres';
import { migrationsDir } from '@leads/local-stack/repository';
import type { TestProject } from 'vitest/node';
import { createMemoryDirectory } from './memory-directory.ts';
import { offerServices } from './shared-services.ts';

const templateDatabase = 'leads_template';

/**
 * Moves temporary files to memory. Starts one Postgres for the whole test run (global setup of Vitest), with one
 * migrated database that test files clone. Offers services that test files share.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  await using stack = new DisposeStack();
  const memory = stack.use(createMemoryDirectory());
  // Test files and their processes inherit it.
  if (memory !== undefined) process.env['TMPDIR'] = memory.path;
  const postgres = stack.use(await startTemporaryPostgres());
  await postgres.createDatabase(templateDatabase);
  await migrate({ databaseUrl: postgres.url(templateDatabase), migrationsDir });
  const facts: TestPostgres = { adminUrl: postgres.url('postgres'), templateDatabase };
  project.provide('postgres', facts);
  const services = stack.use(await offerServices(() => createTestDatabase(facts)));
  project.provide('sharedServices', services.url);
  const resources = stack.move();
  return () => resources[Symbol.asyncDispose]();
}
