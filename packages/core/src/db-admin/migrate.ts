import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { watchLocks } from './lock-watch.ts';
import { runsInTransaction, splitStatements } from './migration-script.ts';
import { type EngineSession, openSchemaEngine } from './schema-engine.ts';

/*
 * Migrations run on Prisma's own schema engine, as WebAssembly: it keeps `_prisma_migrations` just as
 * `prisma migrate deploy` does, with nothing to download and no binary to ship.
 */

/** Any number, as long as it is the same in every process: who holds this advisory lock migrates. */
const advisoryLock = 7_262_001;
const advisoryPollMs = 500;

const filters = { externalTables: [], externalEnums: [] };

/** A migration that failed; `migration` is its directory's name. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly migration: string | undefined;

  constructor(message: string, options: { migration?: string | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.migration = options.migration;
  }
}

/** How a migration waits for locks. Whoever waits for a table's makes all wait behind it that want the table. */
export interface LockPatience {
  /**
   * For how long at a time, in milliseconds: less than leads wait for Postgres before they go another way, and half of its
   * `deadlock_timeout`, so that of two who wait for each other it is the migration that gives way.
   */
  readonly timeoutMs: number;
  /** How long the others may go on in between, in milliseconds. */
  readonly pauseMs: number;
  readonly attempts: number;
}

export const usualPatience: LockPatience = { timeoutMs: 500, pauseMs: 2_000, attempts: 40 };

/**
 * Applies the migrations that a database lacks, in one transaction: all of them or, where one fails, none. One whose
 * first line is `-- leads: no transaction` is applied by itself, statement by statement, once all before it are
 * committed; where it fails, or the process is killed, the next run applies it anew. Of two runs at once the second
 * waits for the first, and then finds nothing left to do.
 *
 * @param options.databaseUrl past any pooler: what is locked is locked for a session.
 * @param options.migrationsDir the directory of `migration_lock.toml` and one directory a migration.
 * @param options.onNotice hears what goes on, line by line.
 * @returns the names of the migrations just applied.
 * @throws MigrationError, or the error of node-postgres when the database cannot be reached.
 */
export async function migrate(options: {
  databaseUrl: string;
  migrationsDir: string;
  onNotice?: (line: string) => void;
  lockPatience?: LockPatience;
}): Promise<{ applied: string[] }> {
  const { databaseUrl, onNotice, lockPatience: patience = usualPatience } = options;
  const migrationsList = readMigrations(options.migrationsDir);
  // What is being applied, and what Postgres said of it where it was refused.
  let attempted: { migration?: string | undefined; refusal?: unknown } = {};
  // Statements that come before those of the first migration.
  let locksFirst: string[] = [];
  await using session: EngineSession = await openSchemaEngine({
    databaseUrl,
    async runScript(script) {
      const migration = migrationsList.migrationDirectories.find(
        ({ migrationFile }) => migrationFile.content.value === script,
      )?.path;
      attempted = { migration };
      if (migration !== undefined) onNotice?.(`Applying ${migration}`);
      try {
        if (!runsInTransaction(script)) return await runAlone(session, script, patience);
        if (migration !== undefined) for (const lock of locksFirst.splice(0)) await session.query(lock);
        await session.query(script);
      } catch (error) {
        // Kept, since the engine goes on to write the failure down, and hears that the transaction is aborted.
        attempted = { migration, refusal: error };
        throw error;
      }
    },
  });
  await takeTurn(session, onNotice);

  const [backend] = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await using locks = await watchLocks({
    databaseUrl,
    pid: backend?.pid ?? 0,
    onWait: (what) => onNotice?.(`Waiting for ${what}`),
  });

  const applied: string[] = [];
  for (const phase of phasesOf(migrationsList)) {
    let waitedFor: string[] = [];
    for (let attempt = 1; ; attempt++) {
      attempted = {};
      // Who held it may have waited for a table that was taken before it: the other way round nobody does.
      locksFirst = waitedFor.map((table) => `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      try {
        await reopen(session, migrationsList);
        applied.push(...(await applyPhase(session, phase, patience)));
        break;
      } catch (error) {
        const { migration, refusal: reason = error } = attempted;
        const held = locks.take();
        const isWaiting = isForWantOfLock(reason);
        if (!isWaiting || attempt >= patience.attempts) {
          const where = migration === undefined ? '' : `Migration ${migration} failed: `;
          const tries = isWaiting
            ? `, ${attempt} times${held === undefined ? '' : `: ${held.description}`}`
            : '';
          throw new MigrationError(`${where}${messageOf(reason)}${tries}`, { migration, cause: reason });
        }
        const table = held?.table;
        if (table !== undefined) waitedFor = [table, ...waitedFor.filter((other) => other !== table)];
        await sleep(patience.pauseMs);
      }
    }
  }
  return { applied };
}

/** How far a database is, as seen from a release. */
export interface MigrationState {
  /** What it lacks, oldest first. */
  readonly pending: string[];
  /** What it has beyond this release, oldest first: a newer one has been here. */
  readonly ahead: string[];
}

/**
 * Compares a database with a release; changes nothing.
 *
 * @throws MigrationError when its history and the directory do not belong together.
 */
export async function migrationState(options: {
  databaseUrl: string;
  migrationsDir: string;
}): Promise<MigrationState> {
  await using session = await openSchemaEngine({ databaseUrl: options.databaseUrl });
  const { history, failedMigrationNames } = await diagnose(session, readMigrations(options.migrationsDir));
  switch (history?.diagnostic) {
    case undefined:
      return { pending: failedMigrationNames, ahead: [] };
    case 'migrationsDirectoryIsBehind':
      return { pending: failedMigrationNames, ahead: history.unpersistedMigrationNames };
    case 'databaseIsBehind':
      return { pending: [...failedMigrationNames, ...history.unappliedMigrationNames], ahead: [] };
    case 'historiesDiverge': {
      const { unpersistedMigrationNames: has, unappliedMigrationNames: lacks } = history;
      throw new MigrationError(
        `The database has another history of migrations than this release: it has ${has.join(', ')}, and lacks ${lacks.join(', ')}`,
        {},
      );
    }
  }
}

/**
 * The SQL that takes what the migrations make to what `schema.prisma` says; empty when they agree.
 *
 * @param options.databaseUrl any database of a server on which a shadow database can be made and dropped.
 */
export async function diffMigrations(options: {
  databaseUrl: string;
  migrationsDir: string;
  schemaPath: string;
}): Promise<string> {
  const schema = { path: basename(options.schemaPath), content: readFileSync(options.schemaPath, 'utf8') };
  await using session = await openSchemaEngine({ databaseUrl: options.databaseUrl, schema });
  const { stdout, exitCode } = await session.engine.diff({
    from: { tag: 'migrations', ...readMigrations(options.migrationsDir) },
    to: { tag: 'schemaDatamodel', files: [schema] },
    script: true,
    exitCode: true,
    filters,
  });
  return exitCode === 0 ? '' : (stdout ?? '');
}

function readMigrations(directory: string) {
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
  return {
    baseDir: directory,
    lockfile: {
      path: 'migration_lock.toml',
      content: readFileSync(join(directory, 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: names.map((name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok' as const, value: readFileSync(join(directory, name, 'migration.sql'), 'utf8') },
      },
    })),
  };
}

type Migrations = ReturnType<typeof readMigrations>;

/** Migrations up to and with some that are applied together. */
interface Phase {
  readonly migrationsList: Migrations;
  /** Whether it is the last of them alone, all before it being applied. */
  readonly isAlone: boolean;
}

function phasesOf(migrationsList: Migrations): Phase[] {
  const all = migrationsList.migrationDirectories;
  const upTo = (count: number) => ({ ...migrationsList, migrationDirectories: all.slice(0, count) });
  const phases: Phase[] = [];
  for (const [index, migration] of all.entries()) {
    if (!runsAlone(migration)) continue;
    phases.push({ migrationsList: upTo(index), isAlone: false });
    phases.push({ migrationsList: upTo(index + 1), isAlone: true });
  }
  return [...phases, { migrationsList, isAlone: false }];
}

const runsAlone = ({ migrationFile }: Migrations['migrationDirectories'][number]) =>
  !runsInTransaction(migrationFile.content.value);

/**
 * Lets migrations without a transaction that did not come to their end be applied anew: each of their statements may
 * be run again. Others that did not are another tool's, and are refused.
 */
async function reopen(session: EngineSession, migrationsList: Migrations): Promise<void> {
  const alone = migrationsList.migrationDirectories.filter(runsAlone).map(({ path }) => path);
  if (alone.length === 0) return;
  const { failedMigrationNames } = await diagnose(session, migrationsList);
  for (const migrationName of failedMigrationNames.filter((name) => alone.includes(name))) {
    await session.engine.markMigrationRolledBack({ migrationName });
  }
}

async function applyPhase(
  session: EngineSession,
  { migrationsList, isAlone }: Phase,
  patience: LockPatience,
): Promise<string[]> {
  await session.query(lockTimeout(patience.timeoutMs));
  if (isAlone) {
    return (await session.engine.applyMigrations({ migrationsList, filters })).appliedMigrationNames;
  }
  await session.query('BEGIN');
  try {
    const { appliedMigrationNames } = await session.engine.applyMigrations({ migrationsList, filters });
    await session.query('COMMIT');
    return appliedMigrationNames;
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Runs a script outside of transactions, statement by statement. */
async function runAlone(session: EngineSession, script: string, patience: LockPatience): Promise<void> {
  // An index that was not built to its end is of no use, and stands in the way of the next try. One of a partitioned
  // table is invalid for another reason: one of its parts has none yet.
  const unfinished = await session.query<{ name: string; index: string }>(`
    SELECT relname AS name, indexrelid::regclass::text AS index FROM pg_index JOIN pg_class ON oid = indexrelid
    WHERE NOT indisvalid AND relkind = 'i' AND relnamespace = current_schema()::regnamespace`);
  const statements = unfinished
    .filter(({ name }) => script.includes(name))
    .map(({ index }) => `DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
  for (const statement of [...statements, ...splitStatements(script)]) {
    // What is done concurrently waits long for others, and nobody for it.
    const isConcurrent = /\bCONCURRENTLY\b/i.test(statement);
    await session.query(lockTimeout(isConcurrent ? 0 : patience.timeoutMs));
    await session.query(statement);
  }
  await session.query(lockTimeout(patience.timeoutMs));
}

const lockTimeout = (timeoutMs: number) => `SET lock_timeout = ${timeoutMs}`;

/** Waits until no other run is under way. */
async function takeTurn(session: EngineSession, onNotice?: (line: string) => void): Promise<void> {
  const isMine = async () => {
    const [lock] = await session.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${advisoryLock}) AS taken`,
    );
    return lock?.taken === true;
  };
  if (await isMine()) return;
  onNotice?.('Another migration is running: waiting for it');
  // Asked again and again: an index that is built concurrently would wait for a statement that waits.
  do await sleep(advisoryPollMs);
  while (!(await isMine()));
}

/** PostgreSQL, appendix A: lock not available, deadlock detected. */
function isForWantOfLock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '55P03' || error.code === '40P01');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function diagnose(session: EngineSession, migrationsList: Migrations) {
  return session.engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters });
}
