import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';

/*
 * The table `_prisma_migrations`, in the format of `prisma migrate deploy` of Prisma 7. Either tool can continue where the
 * other stopped. packages/test-kit/test/schema-engine.test.ts compares both.
 */

/** A run of a migration. */
export interface MigrationRun {
  readonly name: string;
  /** False while it runs, and after it failed. */
  readonly isFinished: boolean;
}

const createTable = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

/** Returns all runs that were not rolled back, oldest first; undefined if the database has no history. */
export async function readHistory(client: pg.Client): Promise<MigrationRun[] | undefined> {
  const { rows: found } = await client.query(`SELECT WHERE to_regclass('_prisma_migrations') IS NOT NULL`);
  if (found.length === 0) return undefined;
  const { rows } = await client.query<MigrationRun>(
    `SELECT migration_name AS name, finished_at IS NOT NULL AS "isFinished"
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return rows;
}

/** Returns whether the schema has tables. Prisma calls a database with tables but no history "not empty" (P3005). */
export async function hasTables(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace LIMIT 1`,
  );
  return rows.length > 0;
}

/** Creates the table if it does not exist. */
export async function createHistory(client: pg.Client): Promise<void> {
  await client.query(createTable);
}

/**
 * Records that a migration starts. Runs of it that did not finish become rolled back.
 *
 * @returns the id of the run.
 */
export async function recordStart(client: pg.Client, name: string, script: string): Promise<string> {
  await client.query(
    `UPDATE _prisma_migrations SET rolled_back_at = clock_timestamp()
     WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
    [name],
  );
  const id = randomUUID();
  const checksum = createHash('sha256').update(script).digest('hex');
  // clock_timestamp() instead of now(), which returns the same time for all migrations of a transaction.
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at)
     VALUES ($1, $2, $3, clock_timestamp())`,
    [id, checksum, name],
  );
  return id;
}

export async function recordFinish(client: pg.Client, id: string): Promise<void> {
  await client.query(
    `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = applied_steps_count + 1
     WHERE id = $1`,
    [id],
  );
}

export async function recordFailure(client: pg.Client, id: string, logs: string): Promise<void> {
  await client.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, logs]);
}
