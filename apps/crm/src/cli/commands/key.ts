import { credentialState, issueApiKey } from '@leads/core/credential';
import type { Command } from 'commander';
import { parseDuration, parseText } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { addListAndRevokeCommands, formatSecret, type Owners } from '../runtime/credential.ts';
import { examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findCampaign, findMembership } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { printResult } from '../runtime/output.ts';

interface CreateKeyOptions extends WorkspaceOptions {
  readonly user: string;
  readonly name: string;
  readonly expiresIn?: number;
  readonly defaultCampaign?: string;
  readonly intakeOnly?: true;
}

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
    .option('--intake-only', 'valid for the intake service only')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads key create --user ada@example.com --name "Production"',
        'leads key create --user ada@example.com --name "Landing pages" --intake-only --expires-in 90d',
      ),
    )
    .action((options) => createKey(io, options));

  addListAndRevokeCommands(key, io, {
    noun: 'API key',
    widths: { name: 22, user: 26 },
    columns: [
      { header: 'PREFIX', maxWidth: 11, value: ({ prefix }) => prefix },
      { header: 'SCOPE', maxWidth: 6, value: ({ scope }) => scope },
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

async function createKey(io: CliIo, options: CreateKeyOptions): Promise<void> {
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
      scope: options.intakeOnly === true ? 'intake' : 'full',
      ...(options.expiresIn !== undefined && {
        expiresAt: new Date(Date.now() + options.expiresIn * 1000),
      }),
      ...(campaign !== undefined && { defaultCampaignId: campaign.id }),
    },
  );

  const { id, name, prefix, scope, createdAt, expiresAt } = record;
  await operator.recordAction({
    action: 'api_key.created',
    scope: { workspaceId: workspace.id },
    targetId: id,
    details: { name, scope, prefix, userId: user.id },
  });
  const until = expiresAt === undefined ? '' : `, valid until ${expiresAt.toISOString()}`;
  printResult(
    io,
    options,
    { id, name, prefix, scope, defaultCampaign: campaign?.code, createdAt, expiresAt, apiKey },
    formatSecret(`API key ${name} of ${user.email} in workspace ${workspace.slug}${until}:`, apiKey),
  );
}

async function listKeys({ campaigns, credentials }: Operator, { workspaceId, userId, emailOf }: Owners) {
  const codes = new Map((await campaigns.list(workspaceId)).map(({ id, code }) => [id, code]));
  const keys = await credentials.listApiKeys(workspaceId, userId);
  return keys.map((key) => {
    const { id, name, prefix, scope, defaultCampaignId = '', createdAt, expiresAt, revokedAt } = key;
    const user = emailOf(key.userId);
    const defaultCampaign = codes.get(defaultCampaignId);
    const state = credentialState(key);
    return { id, name, prefix, user, scope, defaultCampaign, createdAt, expiresAt, revokedAt, state };
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
