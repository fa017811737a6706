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

/** `leads key ...` */
export function addKeyCommands(program: Command, io: CliIo): void {
  const key = program
    .command('key')
    .summary('API keys')
    .description('API keys, which both services require.');

  key
    .command('create')
    .summary('create an API key')
    .description(
      'Creates an API key and shows it once. A user may have several, so that one can replace another.',
    )
    .requiredOption('--user <email>', 'the owner of the key')
    .addOption(workspaceOption('the user is in only one'))
    .requiredOption('--name <name>', 'what the key is for', parseText)
    .option('--expires-in <duration>', 'when it expires, such as 90d or 12h (default: never)', parseDuration)
    .option('--default-campaign <code>', 'the campaign of its leads whose landing page has none')
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
      description: 'the id of the key, or the prefix that `leads key list` shows',
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
  const until = expiresAt === undefined ? '' : `, good until ${expiresAt.toISOString()}`;
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

async function revokeKey({ credentials }: Operator, workspaceId: string, idOrPrefix: string, at: Date) {
  const keys = await credentials.revokeApiKey(workspaceId, idOrPrefix, at);
  if (keys.length > 1) {
    const ids = keys.map(({ id }) => id).join(', ');
    throw new CliError(
      `There are ${keys.length} API keys of that prefix, none was revoked; give an id: ${ids}`,
    );
  }
  return keys[0];
}
