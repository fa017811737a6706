import { type ApiKey, credentialState, issueApiKey } from '@leads/core/credential';
import type { Command } from 'commander';
import { parseDuration, parseText } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import { formatRevocation, formatSecret } from '../runtime/credential.ts';
import { examples, jsonOption, workspaceOption } from '../runtime/help.ts';
import {
  findMembership,
  findOwners,
  findWorkspace,
  type Operator,
  openOperator,
} from '../runtime/operator.ts';
import { formatTable, formatTime, type OutputOptions, printResult } from '../runtime/output.ts';

interface CreateKeyOptions extends OutputOptions {
  readonly user: string;
  readonly workspace?: string;
  readonly name: string;
  readonly expiresIn?: number;
  readonly defaultCampaign?: string;
  readonly intakeOnly?: true;
}

interface ListKeysOptions extends OutputOptions {
  readonly user?: string;
  readonly workspace?: string;
}

interface RevokeKeyOptions extends OutputOptions {
  readonly workspace?: string;
}

/** `leads key ...` */
export function addKeyCommands(program: Command): void {
  const key = program
    .command('key')
    .summary('API keys')
    .description('API keys, which both services ask for.');

  key
    .command('create')
    .summary('create an API key')
    .description(
      'Creates an API key and shows it once. A user may have several, so that one can take over from another.',
    )
    .requiredOption('--user <email>', 'whose key it is')
    .addOption(workspaceOption('the user is in one workspace only'))
    .requiredOption('--name <name>', 'what the key is for', parseText)
    .option(
      '--expires-in <duration>',
      'how long it is good, such as 90d or 12h (default: always)',
      parseDuration,
    )
    .option('--default-campaign <code>', 'where its leads go whose landing page has no campaign')
    .option('--intake-only', 'good for the intake service only')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads key create --user ada@example.com --name "Production"',
        'leads key create --user ada@example.com --name "Landing pages" --intake-only --expires-in 90d',
      ),
    )
    .action(createKey);

  key
    .command('list')
    .summary('list API keys')
    .description('Lists the API keys of a workspace or of one user in it, newest first.')
    .addOption(workspaceOption('there is one only, or the user is in one only'))
    .option('--user <email>', 'only the keys of this user')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads key list --workspace acme', 'leads key list --user ada@example.com'),
    )
    .action(listKeys);

  key
    .command('revoke')
    .summary('revoke an API key')
    .description('Revokes an API key for good. It is refused everywhere within 10 seconds.')
    .argument('<id-or-prefix>', 'the id of the key, or the prefix that `leads key list` shows')
    .addOption(workspaceOption('there is one only'))
    .addOption(jsonOption())
    .addHelpText('after', examples('leads key revoke lk_4fT9aXq2 --workspace acme'))
    .action(revokeKey);
}

async function createKey(options: CreateKeyOptions): Promise<void> {
  await using operator = openOperator();
  const { user, workspace } = await findMembership(operator.workspaces, options.user, options.workspace);
  const campaign = await findDefaultCampaign(operator, workspace, options.defaultCampaign);
  const { apiKey, record } = await issueApiKey(
    operator.credentials,
    { workspaceId: workspace.id, userId: user.id },
    {
      name: options.name,
      scope: options.intakeOnly === true ? 'intake' : 'full',
      ...(options.expiresIn !== undefined && {
        expiresAt: new Date(Date.now() + options.expiresIn * 1000),
      }),
      ...(campaign !== undefined && { defaultCampaignId: campaign.id }),
    },
  );

  const { id, name, prefix, scope, createdAt, expiresAt } = record;
  const until = expiresAt === undefined ? '' : `, good until ${expiresAt.toISOString()}`;
  printResult(
    options,
    { id, name, prefix, scope, defaultCampaign: campaign?.code, createdAt, expiresAt, apiKey },
    formatSecret(`API key ${name} of ${user.email} in workspace ${workspace.slug}${until}:`, apiKey),
  );
}

async function findDefaultCampaign(
  { campaigns }: Operator,
  workspace: { id: string; slug: string },
  code: string | undefined,
) {
  if (code === undefined) return undefined;
  const campaign = await campaigns.findByCode(workspace.id, code);
  if (campaign === undefined) throw new CliError(`Workspace ${workspace.slug} has no campaign ${code}`);
  return campaign;
}

async function listKeys(options: ListKeysOptions): Promise<void> {
  await using operator = openOperator();
  const { workspaceId, userId, emailOf } = await findOwners(operator.workspaces, options);
  const campaigns = await operator.campaigns.list(workspaceId);
  const codes = new Map(campaigns.map(({ id, code }) => [id, code]));
  const records = await operator.credentials.listApiKeys(workspaceId, userId);
  const keys = records.map((key) => toJson(key, emailOf(key.userId), codes.get(key.defaultCampaignId ?? '')));

  const table = formatTable(
    [
      { header: 'NAME', maxWidth: 22, value: ({ name }) => name },
      { header: 'USER', maxWidth: 26, value: ({ user }) => user },
      { header: 'PREFIX', maxWidth: 11, value: ({ prefix }) => prefix },
      { header: 'SCOPE', maxWidth: 6, value: ({ scope }) => scope },
      {
        header: 'EXPIRES (UTC)',
        maxWidth: 16,
        value: ({ expiresAt }) => (expiresAt === undefined ? 'never' : formatTime(expiresAt)),
      },
      { header: 'STATE', maxWidth: 7, value: ({ state }) => state },
    ],
    keys,
    ({ id, createdAt }) => `${id}, created ${formatTime(createdAt)}`,
  );
  printResult(options, keys, keys.length === 0 ? 'No API keys.' : table);
}

async function revokeKey(idOrPrefix: string, options: RevokeKeyOptions): Promise<void> {
  await using operator = openOperator();
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const at = new Date();
  const keys = await operator.credentials.revokeApiKey(workspace.id, idOrPrefix, at);
  const [key] = keys;
  // What was typed is not repeated: it may be a key, by mistake.
  if (key === undefined) {
    throw new CliError(`Workspace ${workspace.slug} has no such API key: give its id or its prefix`);
  }
  if (keys.length > 1) {
    const ids = keys.map(({ id }) => id).join(', ');
    throw new CliError(
      `There are ${keys.length} API keys of that prefix, none was revoked; give an id: ${ids}`,
    );
  }
  const { id, name, prefix, revokedAt } = key;
  printResult(
    options,
    { id, name, prefix, revokedAt },
    formatRevocation(`API key ${prefix} (${name})`, key, at),
  );
}

function toJson(key: ApiKey, user: string, defaultCampaign: string | undefined) {
  const { id, name, prefix, scope, createdAt, expiresAt, revokedAt } = key;
  return {
    id,
    name,
    prefix,
    user,
    scope,
    defaultCampaign,
    createdAt,
    expiresAt,
    revokedAt,
    state: credentialState(key),
  };
}
