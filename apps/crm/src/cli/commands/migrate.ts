import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ownMigrations } from '../own-files.ts';
import { CliError, describeConnectionError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { type OutputOptions, printNotice, printResult } from '../runtime/output.ts';
import { MigrateSettings, readSettings } from '../runtime/settings.ts';

/** `leads migrate` */
export function addMigrateCommand(program: Command, io: CliIo): void {
  program
    .command('migrate')
    .summary('bring the database up to date')
    .description(
      'Applies the migrations that the database lacks: all of them or, where one fails, none. Of two runs at once the second waits for the first.',
    )
    .option(
      '--check',
      'apply nothing; exit with 0 when the database has all migrations of this release, with 1 when it lacks some or has another history',
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
        throw new CliError(`There are no migrations in ${target.migrationsDir}: set LEADS_MIGRATIONS_DIR`);
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
  const { pending, ahead } = await migrationState(target);
  const lines = pending.map((name) => `Pending ${name}`);
  if (pending.length === 0) lines.push('The database is up to date.');
  printResult(io, options, { pending, ahead }, lines.join('\n'));
  if (ahead.length > 0) {
    printNotice(
      io,
      `A newer release has been here: the database is ahead of this one by ${ahead.join(', ')}`,
    );
  }
  if (pending.length > 0) {
    throw new CliError(`The database lacks ${pending.join(', ')}: run \`leads migrate\``);
  }
}
