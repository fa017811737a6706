import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { CliError } from '../runtime/cli-error.ts';
import { connectionFault } from '../runtime/connection-error.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { type OutputOptions, printNotice, printResult } from '../runtime/output.ts';
import { MigrateSettings, readSettings } from '../runtime/settings.ts';

/** Where the migrations lie in the repository; this module lies as deep as source and built. */
const ownMigrations = resolve(import.meta.dirname, '../../../../prisma/migrations');

/** `leads migrate` */
export function addMigrateCommand(program: Command): void {
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
      const settings = readSettings(MigrateSettings);
      const target = {
        databaseUrl: settings.DATABASE_URL,
        migrationsDir: settings.LEADS_MIGRATIONS_DIR || ownMigrations,
      };
      if (!existsSync(join(target.migrationsDir, 'migration_lock.toml'))) {
        throw new CliError(`There are no migrations in ${target.migrationsDir}: set LEADS_MIGRATIONS_DIR`);
      }
      try {
        await (options.check === true ? check(target, options) : apply(target, options));
      } catch (error) {
        throw connectionFault(error) ?? error;
      }
    });
}

interface Target {
  readonly databaseUrl: string;
  readonly migrationsDir: string;
}

async function apply(target: Target, options: OutputOptions): Promise<void> {
  const { migrate } = await import('@leads/core/db-admin/migrate');
  const { applied } = await migrate({ ...target, onNotice: printNotice });
  const lines = applied.map((name) => `Applied ${name}`);
  printResult(options, { applied }, [...lines, 'The database is up to date.'].join('\n'));
}

async function check(target: Target, options: OutputOptions): Promise<void> {
  const { migrationState } = await import('@leads/core/db-admin/migrate');
  const { pending, ahead } = await migrationState(target);
  const lines = pending.map((name) => `Pending ${name}`);
  if (pending.length === 0) lines.push('The database is up to date.');
  printResult(options, { pending, ahead }, lines.join('\n'));
  if (ahead.length > 0) {
    printNotice(`A newer release has been here: the database is ahead of this one by ${ahead.join(', ')}`);
  }
  if (pending.length > 0) {
    throw new CliError(`The database lacks ${pending.join(', ')}: run \`leads migrate\``);
  }
}
