import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { advisoryLocks } from '../db/advisory-locks.ts';
import { openAdminClient } from './admin-client.ts';
import { defaultLockRetryPolicy, isLockConflict, type LockRetryPolicy } from './lock-retry.ts';
import { monitorLocks } from './lock-monitor.ts';
import {
  createHistory,
  hasTables,
  readHistory,
  recordFailure,
  recordFinish,
  recordStart,
} from './migration-history.ts';
import { runsInTransaction, splitStatements } from './migration-script.ts';

const advisoryLockPollMs = 500;

/** A failed migration. `migration` is the name of its directory. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly migration: string | undefined;

  constructor(message: string, options: { migration?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.migration = options.migration;
  }
}

/**
 * Applies the pending migrations, in the order of their names. Successive migrations share one transaction: either all of
 * them are applied or none. A migration whose first line is `-- leads: no transaction` runs alone, statement by
 * statement, after those before it are committed. If it fails or the process is killed, the next run applies it again.
 * A concurrent run waits for the first, and then has nothing to apply.
 *
 * Like `prisma migrate deploy`, it ignores edits of applied migrations, and migrations that only the database has. It also
 * ignores those if they are unfinished, so that the previous release can run after a failed upgrade.
 *
 * @param options.databaseUrl a direct connection: a pooler would break session locks.
 * @param options.migrationsDir has one directory for each migration, with a file `migration.sql`.
 * @param options.onNotice receives progress and warnings of Postgres, line by line.
 * @returns the names of the migrations that were applied.
 * @throws MigrationError, or the error of node-postgres if the database cannot be reached.
 */
export async function migrate(options: {
  databaseUrl: string;
  migrationsDir: string;
  onNotice?: (line: string) => void;
  lockRetry?: LockRetryPolicy;
}): Promise<{ applied: string[] }> {
  const { databaseUrl, onNotice, lockRetry = defaultLockRetryPolicy } = options;
  const migrations = readMigrations(options.migrationsDir);
  await using client = await openAdminClient(databaseUrl, onNotice);
  await acquireAdvisoryLocks(client, onNotice);
  await using lockMonitor = await monitorLocks({
    databaseUrl,
    client,
    onWait: (description) => onNotice?.(`Waiting for ${description}`),
  });

  const applied: string[] = [];
  for (const batch of batchesOf(await findPending(client, migrations))) {
    /** The tables that earlier attempts could not lock, the last one first. */
    let contendedTables: string[] = [];
    for (let attempt = 1; ; attempt++) {
      let current: string | undefined;
      const onStart = ({ name }: Migration) => {
        current = name;
        onNotice?.(`Applying ${name}`);
      };
      try {
        await client.query(lockTimeout(lockRetry.timeoutMs));
        if (batch.isTransaction) await applyInTransaction(client, batch.migrations, contendedTables, onStart);
        else await applyAlone(client, batch.migrations[0], lockRetry, onStart);
        applied.push(...batch.migrations.map(({ name }) => name));
        break;
      } catch (error) {
        const wait = lockMonitor.takeLastWait();
        const isRetryable = isLockConflict(error);
        if (!isRetryable || attempt >= lockRetry.maxAttempts) {
          const prefix = current === undefined ? '' : `Migration ${current} failed: `;
          const holder = wait === undefined ? '' : `: ${wait.description}`;
          const attempts = isRetryable ? `, ${attempt} times${holder}` : '';
          throw new MigrationError(`${prefix}${messageOf(error)}${attempts}`, {
            migration: current,
            cause: error,
          });
        }
        const table = wait?.table;
        if (table !== undefined) {
          contendedTables = [table, ...contendedTables.filter((other) => other !== table)];
        }
        await sleep(lockRetry.pauseMs);
      }
    }
  }
  return { applied };
}

/** The differences between the migrations of a database and of a release. */
export interface MigrationState {
  /** Migrations that the database lacks, oldest first. */
  readonly pending: string[];
  /** Migrations that only the database has, also unfinished ones, oldest first: a newer release has migrated it. */
  readonly ahead: string[];
}

/**
 * Compares a database with a release; changes nothing.
 *
 * @param options.onNotice receives warnings of Postgres, line by line.
 * @throws MigrationError if each has migrations that the other lacks, or as {@link requirePublicSchema}.
 */
export async function migrationState(options: {
  databaseUrl: string;
  migrationsDir: string;
  onNotice?: (line: string) => void;
}): Promise<MigrationState> {
  const names = readMigrations(options.migrationsDir).map(({ name }) => name);
  await using client = await openAdminClient(options.databaseUrl, options.onNotice);
  await requirePublicSchema(client);
  const runs = (await readHistory(client)) ?? [];
  const recorded = runs.map(({ name }) => name);
  const unfinished = runs
    .filter(({ name, isFinished }) => !isFinished && names.includes(name))
    .map(({ name }) => name);
  const missing = names.filter((name) => !recorded.includes(name));
  const ahead = recorded.filter((name) => !names.includes(name));
  if (missing.length > 0 && ahead.length > 0) {
    throw new MigrationError(
      `The database has another history of migrations than this release: it has ${ahead.join(', ')} and lacks ${missing.join(', ')}`,
    );
  }
  return { pending: [...unfinished, ...missing], ahead };
}

interface Migration {
  /** The name of its directory. */
  readonly name: string;
  readonly script: string;
}

function readMigrations(directory: string): Migration[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .map((name) => ({ name, script: readFileSync(join(directory, name, 'migration.sql'), 'utf8') }));
}

/**
 * Returns the migrations that are not applied, oldest first. They include unfinished migrations without a transaction,
 * since each of their statements can run again.
 *
 * @throws MigrationError if the database has tables but no history, or a migration of this release that another tool did not
 *   finish, or as {@link requirePublicSchema}.
 */
async function findPending(client: pg.Client, migrations: readonly Migration[]): Promise<Migration[]> {
  await requirePublicSchema(client);
  const runs = await readHistory(client);
  if (runs === undefined && (await hasTables(client))) {
    throw new MigrationError(
      'The database is not empty, but has no history of migrations: `prisma migrate resolve --applied` records one',
    );
  }
  const finished = new Set(runs?.filter(({ isFinished }) => isFinished).map(({ name }) => name));
  const pending = migrations.filter(({ name }) => !finished.has(name));
  const inTransaction = new Set(migrations.filter((each) => !runsAlone(each)).map(({ name }) => name));
  const failed = runs?.find(({ name, isFinished }) => !isFinished && inTransaction.has(name))?.name;
  if (failed !== undefined) {
    throw new MigrationError(
      `Another tool began migration ${failed} and did not finish it: repair the database, then use \`prisma migrate resolve\``,
      { migration: failed },
    );
  }
  return pending;
}

/**
 * Checks that new tables are created in the schema `public`. The queries of Prisma name it, whatever `search_path` is: with
 * the tables in another schema, the services would be ready, and answer every request with 500.
 *
 * @throws MigrationError
 */
async function requirePublicSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ schema: string | null; role: string }>(
    `SELECT current_schema() AS schema, quote_ident(current_user) AS role`,
  );
  const { schema = null, role = '' } = rows[0] ?? {};
  // Without a schema, Postgres rejects the first migration itself.
  if (schema === null || schema === 'public') return;
  throw new MigrationError(
    `The tables would be in the schema ${schema}, but the services read those in public: put public first by \`ALTER ROLE ${role} SET search_path = public\``,
  );
}

type Batch =
  | { readonly isTransaction: true; readonly migrations: Migration[] }
  | { readonly isTransaction: false; readonly migrations: readonly [Migration] };

/** Groups successive migrations that share a transaction. */
function batchesOf(migrations: readonly Migration[]): Batch[] {
  const batches: Batch[] = [];
  for (const migration of migrations) {
    const last = batches.at(-1);
    if (runsAlone(migration)) batches.push({ isTransaction: false, migrations: [migration] });
    else if (last?.isTransaction === true) last.migrations.push(migration);
    else batches.push({ isTransaction: true, migrations: [migration] });
  }
  return batches;
}

const runsAlone = ({ script }: Migration) => !runsInTransaction(script);

/**
 * Applies migrations in one transaction.
 *
 * @param contendedTables tables to lock first. A session that holds one may wait for a table that the migration would
 *   lock earlier. If the migration locks the contended table first, the two cannot deadlock.
 */
async function applyInTransaction(
  client: pg.Client,
  migrations: readonly Migration[],
  contendedTables: readonly string[],
  onStart: (migration: Migration) => void,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await createHistory(client);
    for (const [index, migration] of migrations.entries()) {
      const id = await recordStart(client, migration.name, migration.script);
      onStart(migration);
      if (index === 0) {
        for (const table of contendedTables)
          await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      }
      await client.query(migration.script);
      await recordFinish(client, id);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Runs a migration outside of transactions, statement by statement. */
async function applyAlone(
  client: pg.Client,
  migration: Migration,
  lockRetry: LockRetryPolicy,
  onStart: (migration: Migration) => void,
): Promise<void> {
  await createHistory(client);
  const id = await recordStart(client, migration.name, migration.script);
  onStart(migration);
  try {
    const cleanup = await dropInvalidIndexStatements(client, migration.script);
    for (const statement of [...cleanup, ...splitStatements(migration.script)]) {
      // A concurrent statement waits long for other sessions, and no session waits for it.
      const isConcurrent = /\bCONCURRENTLY\b/i.test(statement);
      await client.query(lockTimeout(isConcurrent ? 0 : lockRetry.timeoutMs));
      await client.query(statement);
    }
    await client.query(lockTimeout(lockRetry.timeoutMs));
    await recordFinish(client, id);
  } catch (error) {
    const logs = `Migration name: ${migration.name}\n\nDatabase error:\n${messageOf(error)}`;
    await recordFailure(client, id, logs).catch(() => undefined);
    throw error;
  }
}

/**
 * Returns statements that drop the indexes that an earlier attempt left invalid: they are useless, and block the next
 * attempt. An index of a partitioned table is skipped: it is invalid until each partition has its part.
 */
async function dropInvalidIndexStatements(client: pg.Client, script: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string; index: string }>(`
    SELECT relname AS name, indexrelid::regclass::text AS index FROM pg_index JOIN pg_class ON oid = indexrelid
    WHERE NOT indisvalid AND relkind = 'i' AND relnamespace = current_schema()::regnamespace`);
  return rows
    .filter(({ name }) => script.includes(name))
    .map(({ index }) => `DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
}

const lockTimeout = (timeoutMs: number) => `SET lock_timeout = ${timeoutMs}`;

/** Waits until no other migration runs, then holds the advisory locks until the session ends. */
async function acquireAdvisoryLocks(client: pg.Client, onNotice?: (line: string) => void): Promise<void> {
  let isNoticed = false;
  for (const lock of [advisoryLocks.migrate, advisoryLocks.prismaMigrate]) {
    // Polls, because `CREATE INDEX CONCURRENTLY` would wait for a statement that waits for the lock.
    while (!(await tryAdvisoryLock(client, lock))) {
      if (!isNoticed) onNotice?.('Another migration is running: waiting for it');
      isNoticed = true;
      await sleep(advisoryLockPollMs);
    }
  }
}

async function tryAdvisoryLock(client: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ isOurs: boolean }>('SELECT pg_try_advisory_lock($1) AS "isOurs"', [
    lock,
  ]);
  return rows[0]?.isOurs === true;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
