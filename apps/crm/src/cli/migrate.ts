import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { connectionFault } from './connection-fault.ts';
import { Refusal } from './failure.ts';
import { examples, jsonOption } from './help.ts';
import { type OutputOptions, printNotice, printResult } from './output.ts';
import { MigrateSettings, readSettings } from './settings.ts';

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
    .option('--check', 'apply nothing; exit with 0 when the database is up to date, with 1 when not')
    .addOption(jsonOption())
    .addHelpText('after', examples('leads migrate', 'leads migrate --check'))
    .action(async (options: OutputOptions & { check?: true }) => {
      const settings = readSettings(MigrateSettings);
      const target = {
        databaseUrl: settings.DATABASE_URL,
        migrationsDir: settings.LEADS_MIGRATIONS_DIR || ownMigrations,
      };
      if (!existsSync(join(target.migrationsDir, 'migration_lock.toml'))) {
        throw new Refusal(`There are no migrations in ${target.migrationsDir}: set LEADS_MIGRATIONS_DIR`);
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
  const { migrate } = await import('@leads/core/migrate');
  const { applied } = await migrate({ ...target, onNotice: printNotice });
  const lines = applied.map((name) => `Applied ${name}`);
  printResult(options, { applied }, [...lines, 'The database is up to date.'].join('\n'));
}

async function check(target: Target, options: OutputOptions): Promise<void> {
  const { pendingMigrations } = await import('@leads/core/migrate');
  const pending = await pendingMigrations(target);
  const lines = pending.map((name) => `Pending ${name}`);
  printResult(options, { pending }, lines.length === 0 ? 'The database is up to date.' : lines.join('\n'));
  if (pending.length > 0)
    throw new Refusal(`The database lacks ${pending.join(', ')}: run \`leads migrate\``);
}
