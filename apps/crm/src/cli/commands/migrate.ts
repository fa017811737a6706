import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ownMigrations } from '../own-files.ts';
import { CliError, describeConnectionError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { type OutputOptions, printNotice, printResult } from '../runtime/output.ts';
import { MigrateSettings, readSettings } from '../runtime/settings.ts';

/** Adds `leads migrate`. */
export function addMigrateCommand(program: Command, io: CliIo): void {
  program
    .command('migrate')
    .summary("apply this release's migrations")
    .description(
      'Applies all missing migrations in one transaction: if one fails, none is applied. A second concurrent run waits for the first.',
    )
    .option(
      '--check',
      'apply no migration; exit with 0 if the database has all migrations of this release, with 1 if some are missing or its history differs',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('leads migrate', 'leads migrate --check'))
    .action(async (options: OutputOptions & { check?: true }) => {
      const settings = readSettings(MigrateSettings, io.env);
      const target = {
        databaseUrl: settings.DATABASE_URL,
        migrationsDir: settings.LEADS_MIGRATIONS_DIR || ownMigrations,
      };
      if (!existsSync(join(target.migrationsDir, 'migration_lock.toml'))) {
        throw new CliError(`${target.migrationsDir} contains no migrations: set LEADS_MIGRATIONS_DIR`);
      }
      try {
        await (options.check === true ? check(io, target, options) : apply(io, target, options));
      } catch (error) {
        throw describeConnectionError(error);
      }
    });
}

interface Target {
  readonly databaseUrl: string;
  readonly migrationsDir: string;
}

async function apply(io: CliIo, target: Target, options: OutputOptions): Promise<void> {
  const { migrate } = await import('@leads/core/db-admin/migrate');
  const { applied } = await migrate({ ...target, onNotice: (line) => printNotice(io, line) });
  const lines = applied.map((name) => `Applied ${name}`);
  printResult(io, options, { applied }, [...lines, 'The database is up to date.'].join('\n'));
}

async function check(io: CliIo, target: Target, options: OutputOptions): Promise<void> {
  const { migrationState } = await import('@leads/core/db-admin/migrate');
  const { pending, ahead } = await migrationState({ ...target, onNotice: (line) => printNotice(io, line) });
  const lines = pending.map((name) => `Pending ${name}`);
  if (pending.length === 0) lines.push('The database is up to date.');
  printResult(io, options, { pending, ahead }, lines.join('\n'));
  if (ahead.length > 0) {
    printNotice(io, `The database has migrations of a newer release: ${ahead.join(', ')}`);
  }
  if (pending.length > 0) {
    throw new CliError(`The database lacks ${pending.join(', ')}: run \`leads migrate\``);
  }
}
