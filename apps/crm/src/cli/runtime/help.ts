import { secretsOf } from '@leads/http/service/config';
import { type Command, Option } from 'commander';
import { exitCodes } from './cli-error.ts';
import type { OutputOptions } from './output.ts';
import {
  BrokerSettings,
  ErasureSettings,
  GrantSettings,
  MigrateSettings,
  PasswordLinkSettings,
  SigningSettings,
  StoreSettings,
} from './settings.ts';

/** The options of commands that work on one workspace. */
export interface WorkspaceOptions extends OutputOptions {
  readonly workspace?: string;
}

/** The option `--json` of every command. */
export function jsonOption(): Option {
  return new Option('--json', 'print the result as one JSON value, and nothing else on stdout');
}

/** The option `--workspace`, which names an existing workspace. */
export function workspaceOption(optionalIf = 'there is only one workspace'): Option {
  return new Option('--workspace <slug>', `the workspace; optional if ${optionalIf}`);
}

/** The option `--quiet` of commands that show their progress. */
export function quietOption(): Option {
  return new Option('--quiet', 'do not show the progress');
}

/** Formats the examples at the end of a command's help. */
export function examples(...commands: string[]): string {
  return ['', 'Examples:', ...commands.map((command) => `  $ ${command}`)].join('\n');
}

/** Formats the end of every help: the environment variables and the exit codes. */
export function commonHelp(command: Command): string {
  const properties = {
    ...StoreSettings.properties,
    ...SigningSettings.properties,
    ...PasswordLinkSettings.properties,
    ...MigrateSettings.properties,
    ...GrantSettings.properties,
    ...BrokerSettings.properties,
    ...ErasureSettings.properties,
  };
  const environment = Object.entries(properties).map(([name, setting]): [string, string] => {
    const { description = '' } = setting as { description?: string };
    return [name, description + (readBy[name] ?? '')];
  });
  environment.push([
    '<NAME>_FILE',
    `instead of any of ${secretsOf({ properties }).join(', ')}: the file that holds it`,
  ]);
  environment.push(['LEADS_DEBUG', '1 to see where an error comes from']);

  return [
    ...list(command, 'Environment:', environment),
    ...list(command, 'Exit codes:', [
      [String(exitCodes.done), 'done'],
      [String(exitCodes.refused), 'refused or failed: one line on stderr says why'],
      [String(exitCodes.usage), 'wrong usage: the command line or the environment'],
      [String(exitCodes.unreachable), 'the database or NATS cannot be reached'],
    ]),
  ]
    .join('\n')
    .trimEnd();
}

const readBy: Readonly<Record<string, string>> = {
  ERASURE_SECRET: ' (leads erase)',
  NATS_URL: ' (leads events, leads erase; whatever revokes or changes, to be in force at once)',
  JWT_SECRET: ' (leads token create, leads user password-link)',
  PUBLIC_URL: ' (leads user password-link)',
  CRM_PORT: ' (leads user password-link)',
  LEADS_MIGRATIONS_DIR: ' (leads migrate)',
  DATABASE_STATEMENT_TIMEOUT_MS: ' (leads db grant)',
  LEADS_CRM_PASSWORD: ' (leads db grant)',
  LEADS_INTAKE_PASSWORD: ' (leads db grant)',
};

/** Formats a list as commander formats options. */
function list(command: Command, title: string, items: readonly [string, string][]): string[] {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 });
  const width = Math.max(...items.map(([term]) => term.length));
  const lines = items.map(([term, text]) => helper.formatItem(term, width, text, helper));
  return ['', ...helper.formatItemList(title, lines, helper).slice(0, -1)];
}
