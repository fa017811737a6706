import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: TestPostgres;
  }
}

/** The Postgres of a test run. */
export interface TestPostgres {
  /** The superuser's connection string. */
  readonly adminUrl: string;
  /** A database with every migration applied, to be cloned. */
  readonly templateDatabase: string;
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/** A database of its own with every migration applied, for one test or one test file; dropped when disposed. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return create(inject('postgres').templateDatabase);
}

/** A database with nothing in it, to test the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return create('template0');
}

const objectInUse = '55006';

async function create(template: string): Promise<TestDatabase> {
  const { adminUrl } = inject('postgres');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  for (let attempt = 1; ; attempt++) {
    try {
      await execute(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      break;
    } catch (error) {
      // Autovacuum may be at work in the template.
      if (!(error instanceof pg.DatabaseError) || error.code !== objectInUse || attempt === 20) throw error;
      await sleep(100);
    }
  }
  const url = new URL(adminUrl);
  url.pathname = name;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => execute(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function execute(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}
