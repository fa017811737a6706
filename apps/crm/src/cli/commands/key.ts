import {
  type ApiKeyScope,
  apiKeyDetails,
  credentialState,
  formatScope,
  issueApiKey,
  type SingleScope,
  singleScopes,
} from '@leads/core/credential';
import { type Command, Option } from 'commander';
import { parseDuration, parseNetworks, parseText } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { addListAndRevokeCommands, formatSecret, type Owners } from '../runtime/credential.ts';
import { examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findCampaign, findMembership } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { printSecret } from '../runtime/output.ts';

interface CreateKeyOptions extends WorkspaceOptions {
  readonly user: string;
  readonly name: string;
  readonly expiresIn?: number;
  readonly defaultCampaign?: string;
  readonly scope?: readonly (NamedScope | SingleScope)[];
  readonly allowFrom?: readonly string[];
  readonly intakeOnly?: true;
}

const namedScopes = ['full', 'intake'] as const;
type NamedScope = (typeof namedScopes)[number];

/** Adds `leads key` and its subcommands. */
export function addKeyCommands(program: Command, io: CliIo): void {
  const key = program
    .command('key')
    .summary('manage API keys')
    .description('Manages API keys. Both services require an API key.');

  key
    .command('create')
    .summary('create an API key')
    .description(
      'Creates an API key and shows it once. A user can have several keys, so a new key can replace an old one without downtime.',
    )
    .requiredOption('--user <email>', 'the owner of the key')
    .addOption(workspaceOption('the user is a member of only one'))
    .requiredOption('--name <name>', 'a name that states the purpose of the key', parseText)
    .option(
      '--expires-in <duration>',
      'the lifetime of the key, such as 90d or 12h (default: unlimited)',
      parseDuration,
    )
    .option('--default-campaign <code>', 'the campaign of leads whose landing page has no campaign')
    .addOption(
      new Option(
        '--scope <scope...>',
        'the scope: full, intake, or one or more single scopes (default: full)',
      )
        .choices([...namedScopes, ...singleScopes])
        .conflicts('intakeOnly'),
    )
    .option(
      '--allow-from <network...>',
      'accept the key only from these addresses or networks, such as 203.0.113.0/24 (default: any address)',
      parseNetworks,
    )
    .option('--intake-only', 'the same as --scope intake')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads key create --user ada@example.com --name "Production"',
        'leads key create --user ada@example.com --name "Landing pages" --intake-only --expires-in 90d',
        'leads key create --user ada@example.com --name Bot --scope events --allow-from 203.0.113.7',
      ),
    )
    .action((options, command) => createKey(io, options, command));

  addListAndRevokeCommands(key, io, {
    noun: 'API key',
    widths: { name: 22, user: 26 },
    columns: [
      { header: 'PREFIX', maxWidth: 11, value: ({ prefix }) => prefix },
      {
        header: 'SCOPE',
        maxWidth: 6,
        value: ({ scope }) => (typeof scope === 'string' ? scope : 'single'),
      },
    ],
    detail: ({ scope, allowedNetworks }) => [
      ...(typeof scope === 'string' ? [] : [`scope ${formatScope(scope)}`]),
      ...allowedNetworks.map((network) => `from ${network}`),
    ],
    list: listKeys,
    revokedBy: {
      argument: '<id-or-prefix>',
      description: 'the id or the prefix of the key, as shown by `leads key list`',
      hint: 'its id or its prefix',
    },
    revokeExample: 'leads key revoke lk_4fT9aXq2 --workspace acme',
    revoke: revokeKey,
  });
}

async function createKey(io: CliIo, options: CreateKeyOptions, command: Command): Promise<void> {
  const scope = scopeOf(options, command);
  await using operator = openOperator(io);
  const { user, workspace } = await findMembership(operator.workspaces, options.user, options.workspace);
  const campaign =
    options.defaultCampaign === undefined
      ? undefined
      : await findCampaign(operator.campaigns, workspace, options.defaultCampaign);
  const { apiKey, record } = await issueApiKey(
    operator.credentials,
    { workspaceId: workspace.id, userId: user.id },
    {
      name: options.name,
      scope,
      allowedNetworks: options.allowFrom ?? [],
      ...(options.expiresIn !== undefined && {
        expiresAt: new Date(Date.now() + options.expiresIn * 1000),
      }),
      ...(campaign !== undefined && { defaultCampaignId: campaign.id }),
    },
  );

  const { id, name, prefix, allowedNetworks, createdAt, expiresAt } = record;
  await operator.recordAction({
    action: 'api_key.created',
    scope: { workspaceId: workspace.id },
    targetId: id,
    details: { ...apiKeyDetails(record), userId: user.id },
  });
  const until = expiresAt === undefined ? '' : `, valid until ${expiresAt.toISOString()}`;
  await printSecret(
    io,
    options,
    {
      id,
      name,
      prefix,
      scope,
      allowedNetworks,
      defaultCampaign: campaign?.code,
      createdAt,
      expiresAt,
      apiKey,
    },
    {
      text: formatSecret(`API key ${name} of ${user.email} in workspace ${workspace.slug}${until}:`, apiKey),
      remedy: `run \`leads key revoke ${id} --workspace ${workspace.slug}\``,
    },
  );
}

/** @throws CommanderError if `full` or `intake` is combined with another scope. */
function scopeOf({ scope = [], intakeOnly }: CreateKeyOptions, command: Command): ApiKeyScope {
  if (intakeOnly === true) return 'intake';
  if (scope.length === 0) return 'full';
  const named = namedScopes.find((each) => scope.includes(each));
  if (named === undefined) return singleScopes.filter((each) => scope.includes(each));
  if (scope.some((each) => each !== named)) {
    command.error(`error: use the scope ${named} without other scopes`);
  }
  return named;
}

async function listKeys({ campaigns, credentials }: Operator, { workspaceId, userId, emailOf }: Owners) {
  const codes = new Map((await campaigns.list(workspaceId)).map(({ id, code }) => [id, code]));
  const keys = await credentials.listApiKeys(workspaceId, userId);
  return keys.map((key) => {
    const { id, name, prefix, scope, allowedNetworks, createdAt, expiresAt, revokedAt } = key;
    return {
      id,
      name,
      prefix,
      user: emailOf(key.userId),
      scope,
      allowedNetworks,
      defaultCampaign: codes.get(key.defaultCampaignId ?? ''),
      createdAt,
      expiresAt,
      revokedAt,
      state: credentialState(key),
    };
  });
}

async function revokeKey(
  { credentials, recordAction }: Operator,
  workspaceId: string,
  idOrPrefix: string,
  at: Date,
) {
  const keys = await credentials.revokeApiKey(workspaceId, idOrPrefix, at);
  if (keys.length > 1) {
    const ids = keys.map(({ id }) => id).join(', ');
    throw new CliError(
      `${keys.length} API keys have this prefix, so none was revoked; use one of the ids: ${ids}`,
    );
  }
  const [key] = keys;
  if (key !== undefined) {
    await recordAction({
      action: 'api_key.revoked',
      scope: { workspaceId },
      targetId: key.id,
      details: { name: key.name, prefix: key.prefix },
    });
  }
  return key;
}
