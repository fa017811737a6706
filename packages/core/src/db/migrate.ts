import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openSchemaEngine } from './schema-engine.ts';

/*
 * Migrations run on Prisma's own schema engine, as WebAssembly: it keeps `_prisma_migrations` just as
 * `prisma migrate deploy` does, with nothing to download and no binary to ship.
 */

/** Any number, as long as it is the same in every process: who holds this advisory lock migrates. */
const advisoryLock = 7_262_001;

const filters = { externalTables: [], externalEnums: [] };

/** A migration that failed; `migration` is its directory's name. The database is as it was before. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly migration: string | undefined;

  constructor(message: string, options: { migration?: string | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.migration = options.migration;
  }
}

/**
 * Applies the migrations that a database lacks: all of them or, where one fails, none. Of two runs at once the
 * second waits for the first, and then finds nothing left to do.
 *
 * @param options.migrationsDir the directory of `migration_lock.toml` and one directory a migration.
 * @param options.onNotice hears what goes on, line by line.
 * @returns the names of the migrations just applied.
 * @throws MigrationError, or the error of node-postgres when the database cannot be reached.
 */
export async function migrate(options: {
  databaseUrl: string;
  migrationsDir: string;
  onNotice?: (line: string) => void;
}): Promise<{ applied: string[] }> {
  const migrationsList = readMigrations(options.migrationsDir);
  let current: string | undefined;
  let refusal: unknown;
  await using session = await openSchemaEngine({
    databaseUrl: options.databaseUrl,
    async runScript(script, query) {
      current = migrationsList.migrationDirectories.find(
        ({ migrationFile }) => migrationFile.content.value === script,
      )?.path;
      if (current !== undefined) options.onNotice?.(`Applying ${current}`);
      try {
        await query(script);
      } catch (error) {
        // Kept, since the engine goes on to write the failure down, and hears that the transaction is aborted.
        refusal = error;
        throw error;
      }
    },
  });

  const [lock] = await session.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_lock(${advisoryLock}) AS taken`,
  );
  if (lock?.taken !== true) {
    options.onNotice?.('Another migration is running: waiting for it');
    await session.query(`SELECT pg_advisory_lock(${advisoryLock})`);
  }

  await session.query('BEGIN');
  try {
    const { appliedMigrationNames } = await session.engine.applyMigrations({ migrationsList, filters });
    await session.query('COMMIT');
    return { applied: appliedMigrationNames };
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    const reason = refusal ?? error;
    const text = reason instanceof Error ? reason.message : String(reason);
    throw new MigrationError(current === undefined ? text : `Migration ${current} failed: ${text}`, {
      migration: current,
      cause: reason,
    });
  }
}

/**
 * The migrations a database still lacks, oldest first; empty when it is up to date, or ahead of this release.
 *
 * @throws MigrationError when its history and the directory do not belong together.
 */
export async function pendingMigrations(options: {
  databaseUrl: string;
  migrationsDir: string;
}): Promise<string[]> {
  await using session = await openSchemaEngine({ databaseUrl: options.databaseUrl });
  const { history } = await session.engine.diagnoseMigrationHistory({
    migrationsList: readMigrations(options.migrationsDir),
    optInToShadowDatabase: false,
    filters,
  });
  switch (history?.diagnostic) {
    case undefined:
    case 'migrationsDirectoryIsBehind':
      return [];
    case 'databaseIsBehind':
      return history.unappliedMigrationNames;
    case 'historiesDiverge':
      throw new MigrationError('The database has another history of migrations than this release', {});
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
