import { secretsOf } from '@leads/http/service/config';
import { type Command, Option } from 'commander';
import { exitCodes } from './exit-codes.ts';
import {
  BrokerSettings,
  ErasureSettings,
  GrantSettings,
  MigrateSettings,
  PasswordLinkSettings,
  SigningSettings,
  StoreSettings,
} from './settings.ts';

/** `--json`, which every command has. */
export function jsonOption(): Option {
  return new Option('--json', 'print the result as one JSON value, and nothing else on stdout');
}

/** `--workspace` of a workspace there is. */
export function workspaceOption(whenLeftOut: string): Option {
  return new Option('--workspace <slug>', `the workspace; may be left out where ${whenLeftOut}`);
}

/** Examples, to stand after a command's help. */
export function examples(...commands: string[]): string {
  return ['', 'Examples:', ...commands.map((command) => `  $ ${command}`)].join('\n');
}

/** What stands after every help: the environment that the commands read, and their exit codes. */
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

/** Laid out as commander lays out options. */
function list(command: Command, title: string, items: readonly [string, string][]): string[] {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth: process.stdout.columns ?? 80 });
  const width = Math.max(...items.map(([term]) => term.length));
  const lines = items.map(([term, text]) => helper.formatItem(term, width, text, helper));
  return ['', ...helper.formatItemList(title, lines, helper).slice(0, -1)];
}
