import { secretsOf } from '@leads/http/service/config';
import { type Command, Option } from 'commander';
import { exitCodes } from './cli-error.ts';
import type { OutputOptions } from './output.ts';
import { CommandLineSettings } from './settings.ts';

/** The id in the examples of commands. */
export const exampleId = '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f';

/** The options of commands that work on one workspace. */
export interface WorkspaceOptions extends OutputOptions {
  readonly workspace?: string;
}

/** Returns the option `--json`, which every command has. */
export function jsonOption(): Option {
  return new Option('--json', 'print the result on stdout as one JSON value');
}

/** Returns the option `--workspace`, which names an existing workspace. */
export function workspaceOption(optionalIf = 'there is only one workspace'): Option {
  return new Option('--workspace <slug>', `the workspace; optional if ${optionalIf}`);
}

/** Returns the option `--quiet` of commands that show their progress. */
export function quietOption(): Option {
  return new Option('--quiet', 'hide the progress');
}

/** Formats the examples at the end of a command's help. */
export function examples(...commands: string[]): string {
  return ['', 'Examples:', ...commands.map((command) => `  $ ${command}`)].join('\n');
}

/** Formats the last part of every help text: the environment variables that the command reads, and the exit codes. */
export function commonHelp(command: Command): string {
  const path = pathOf(command);
  const properties = Object.fromEntries(
    Object.entries(CommandLineSettings.properties).filter(([name]) =>
      (readBy[name] ?? [path]).some((reader) => isSameOrWithin(reader, path) || isSameOrWithin(path, reader)),
    ),
  );
  const environment = Object.entries(properties).map(([name, setting]): [string, string] => {
    const { description = '' } = setting as { description?: string };
    const readers = readBy[name];
    return [name, readers === undefined ? description : `${description} (${readers.join(', ')})`];
  });
  environment.push(['<NAME>_FILE', `a file with the value of ${secretsOf({ properties }).join(', ')}`]);
  environment.push(['LEADS_DEBUG', 'set it to 1 to print the stack of an error']);

  return [
    ...list(command, 'Environment:', environment),
    ...list(command, 'Exit codes:', [
      [String(exitCodes.success), 'success'],
      [String(exitCodes.failed), 'the command failed: one line on stderr states the reason'],
      [String(exitCodes.usage), 'usage error: an argument or a setting is invalid'],
      [String(exitCodes.unreachable), 'the database or NATS is unavailable'],
    ]),
  ]
    .join('\n')
    .trimEnd();
}

/** The commands that read a setting. All commands read the other settings. */
const readBy: Readonly<Record<string, readonly string[]>> = {
  AUDIT_RETENTION_DAYS: ['leads retention run'],
  ERASURE_SECRET: ['leads erase'],
  NATS_URL: [
    'leads events',
    'leads erase',
    'leads nats setup',
    'leads campaign',
    'leads landing-page',
    'leads key revoke',
    'leads token revoke',
    'leads retention set',
  ],
  NATS_INTAKE_URL: ['leads erase', 'leads nats setup'],
  EVENTS_STREAM_DAYS: ['leads nats setup'],
  EVENTS_STREAM_MEGABYTES: ['leads nats setup'],
  EVENTS_STREAM_REPLICAS: ['leads nats setup'],
  INTAKE_BUFFER_MEGABYTES: ['leads nats setup'],
  INTAKE_BUFFER_REPLICAS: ['leads nats setup'],
  JWT_SECRET: ['leads token create', 'leads user password-link'],
  PUBLIC_URL: ['leads user password-link'],
  CRM_PORT: ['leads user password-link'],
  LEADS_MIGRATIONS_DIR: ['leads migrate'],
  DATABASE_STATEMENT_TIMEOUT_MS: ['leads db grant', 'leads deliver'],
  DATABASE_PREPARED_STATEMENTS: ['leads deliver'],
  METRICS_TOKEN: ['leads deliver'],
  DELIVER_HOST: ['leads deliver'],
  DELIVER_PORT: ['leads deliver'],
  DELIVERIES_SECRET: ['leads deliver', 'leads webhook', 'leads postback'],
  DELIVERIES_PREVIOUS_SECRET: ['leads deliver', 'leads webhook reencrypt'],
  DELIVERIES_ALLOW_HTTP: ['leads deliver', 'leads webhook', 'leads postback'],
  DELIVERIES_ALLOW_NETWORKS: ['leads deliver', 'leads webhook', 'leads postback'],
  DELIVERIES_PROXY_URL: ['leads deliver'],
  LEADS_CRM_PASSWORD: ['leads db grant'],
  LEADS_INTAKE_PASSWORD: ['leads db grant'],
};

/** Returns the words of a command, such as `leads key create`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

function isSameOrWithin(path: string, parent: string): boolean {
  return `${path} `.startsWith(`${parent} `);
}

/** Formats a list in commander's layout for options. */
function list(command: Command, title: string, items: readonly [string, string][]): string[] {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 });
  const width = Math.max(...items.map(([term]) => term.length));
  const lines = items.map(([term, text]) => helper.formatItem(term, width, text, helper));
  return ['', ...helper.formatItemList(title, lines, helper).slice(0, -1)];
}
