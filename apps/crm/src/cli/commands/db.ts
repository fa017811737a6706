import type { GrantedRole } from '@leads/core/db-admin/grant';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError, describeConnectionError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { type OutputOptions, printResult } from '../runtime/output.ts';
import { GrantSettings, readSettings } from '../runtime/settings.ts';

interface GrantOptions extends OutputOptions {
  readonly crmRole: string;
  readonly intakeRole: string;
}

/** `leads db ...` */
export function addDbCommands(program: Command, io: CliIo): void {
  const db = program
    .command('db')
    .summary('the roles of the services in Postgres')
    .description('The roles of the services in Postgres.');

  db.command('grant')
    .summary('make the roles of the services, and give them their rights')
    .description(
      'Makes a role in Postgres for each service where it is not there, and gives it the rights that its work takes: no more, and what is too much is taken away. Run it as the role that migrates, after each `leads migrate`. All other commands work as that role, too.',
    )
    .option('--crm-role <name>', "the CRM's role", parseRole, 'leads_crm')
    .option('--intake-role <name>', "the intake's role", parseRole, 'leads_intake')
    .addOption(jsonOption())
    .addHelpText('after', examples('leads db grant', 'leads db grant --crm-role crm --intake-role intake'))
    .action((options) => grant(io, options));
}

/** A name that Postgres takes as it is. */
function parseRole(text: string): string {
  if (/^[a-z_][a-z0-9_]{0,47}$/.test(text) && !text.startsWith('pg_')) return text;
  throw new InvalidArgumentError(
    'A role has lower-case letters, digits and underscores, 48 at most, no digit first and no pg_.',
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
    printResult(io, options, { roles }, roles.map(lineOf).join('\n'));
  } catch (error) {
    if (error instanceof GrantError) throw new CliError(error.message, { cause: error });
    throw describeConnectionError(error);
  }
}

function lineOf({ name, created, password }: GrantedRole): string {
  if (!created) return `${name} has its rights.`;
  const shown = password === undefined ? '' : `, and the password ${password}, which is not shown again`;
  return `${name} is there now: it has its rights${shown}.`;
}
