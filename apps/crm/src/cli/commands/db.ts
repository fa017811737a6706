import type { GrantedRole } from '@leads/core/db-admin/grant';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError, describeConnectionError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { type OutputOptions, printNotice, printResult, printSecret } from '../runtime/output.ts';
import { GrantSettings, readSettings } from '../runtime/settings.ts';

interface GrantOptions extends OutputOptions {
  readonly crmRole: string;
  readonly intakeRole: string;
}

/** Adds `leads db` and its subcommands. */
export function addDbCommands(program: Command, io: CliIo): void {
  const db = program
    .command('db')
    .summary("manage the services' roles in Postgres")
    .description('Manages the Postgres roles of the services.');

  db.command('grant')
    .summary('create the roles of the services and grant their privileges')
    .description(
      'Creates a Postgres role for each service if it does not exist. Grants each role the privileges that the service needs, and revokes all others. Run it after each `leads migrate`, as the role that owns the tables. All other commands need that role, too.',
    )
    .option('--crm-role <name>', "the CRM's role", parseRole, 'leads_crm')
    .option('--intake-role <name>', "the intake's role", parseRole, 'leads_intake')
    .addOption(jsonOption())
    .addHelpText('after', examples('leads db grant', 'leads db grant --crm-role crm --intake-role intake'))
    .action((options) => grant(io, options));
}

/** Validates a role name that Postgres accepts without quotes. */
function parseRole(text: string): string {
  if (/^[a-z_][a-z0-9_]{0,47}$/.test(text) && !text.startsWith('pg_')) return text;
  throw new InvalidArgumentError(
    'Use at most 48 lower-case letters, digits and underscores, without a leading digit or pg_.',
  );
}

async function grant(io: CliIo, options: GrantOptions): Promise<void> {
  const settings = readSettings(GrantSettings, io.env);
  const { GrantError, grantRoles } = await import('@leads/core/db-admin/grant');
  try {
    const roles = await grantRoles({
      databaseUrl: settings.DATABASE_URL,
      statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
      roles: {
        crm: { name: options.crmRole, password: settings.LEADS_CRM_PASSWORD },
        intake: { name: options.intakeRole, password: settings.LEADS_INTAKE_PASSWORD },
      },
    });
    const text = roles.map(lineOf).join('\n');
    const printed = roles.filter(({ password }) => password !== undefined);
    if (printed.length === 0) printResult(io, options, { roles }, text);
    else {
      const names = printed.map(({ service }) => `LEADS_${service.toUpperCase()}_PASSWORD`).join(' and ');
      const remedy = `set ${names}, and run the command again`;
      await printSecret(io, options, { roles }, { text, remedy });
    }
    const refused = roles.flatMap(({ refusedSettings = [] }) => refusedSettings);
    if (refused.length > 0) {
      printNotice(
        io,
        `The role of DATABASE_URL may not change the settings of the roles. If the services use PgBouncer, run as an administrator: ${refused.join('; ')};`,
      );
    }
  } catch (error) {
    if (error instanceof GrantError) throw new CliError(error.message, { cause: error });
    throw describeConnectionError(error);
  }
}

function lineOf({ name, created, password }: GrantedRole): string {
  if (!created) return `Updated the privileges of role ${name}.`;
  const shown = password === undefined ? '' : ` with the password ${password}, which is not shown again`;
  return `Created role ${name}${shown}.`;
}
