import { credentialState, issueAccessToken, tokenLifetime } from '@leads/core/credential';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration, parseText } from '../runtime/arguments.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { addListAndRevokeCommands, formatSecret, type Owners } from '../runtime/credential.ts';
import { exampleId, examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findMembership } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { printSecret } from '../runtime/output.ts';
import { readSettings, SigningSettings } from '../runtime/settings.ts';

interface CreateTokenOptions extends WorkspaceOptions {
  readonly user: string;
  readonly name: string;
  readonly lifetime: number;
}

/** Adds `leads token` and its subcommands. */
export function addTokenCommands(program: Command, io: CliIo): void {
  const token = program
    .command('token')
    .summary('manage access tokens')
    .description(
      'Manages access tokens. The CRM service requires an access token in addition to the API key.',
    );

  token
    .command('create')
    .summary('create an access token')
    .description(
      'Creates an access token and shows it once. It is valid only with an API key of the same user and workspace.',
    )
    .requiredOption('--user <email>', 'the owner of the token')
    .addOption(workspaceOption('the user is a member of only one'))
    .requiredOption('--name <name>', 'a name that states the purpose of the token', parseText)
    .addOption(
      new Option('--lifetime <duration>', 'the lifetime of the token, from 1h to 365d')
        .argParser(parseLifetime)
        .default(tokenLifetime.default, '90d'),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads token create --user ada@example.com --name "Production" --lifetime 365d'),
    )
    .action((options) => createToken(io, options));

  addListAndRevokeCommands(token, io, {
    noun: 'access token',
    widths: { name: 32, user: 36 },
    columns: [],
    list: listTokens,
    revokedBy: {
      argument: '<id>',
      description: 'the id of the token, as shown by `leads token list`',
      hint: 'its id',
    },
    revokeExample: `leads token revoke ${exampleId} --workspace acme`,
    async revoke({ credentials, recordAction }, workspaceId, id, at) {
      const revoked = await credentials.revokeAccessToken(workspaceId, id, at);
      if (revoked !== undefined) {
        const { name } = revoked;
        await recordAction({
          action: 'access_token.revoked',
          scope: { workspaceId },
          targetId: id,
          details: { name },
        });
      }
      return revoked;
    },
  });
}

async function createToken(io: CliIo, options: CreateTokenOptions): Promise<void> {
  const { JWT_SECRET } = readSettings(SigningSettings, io.env);
  await using operator = openOperator(io);
  const { user, workspace } = await findMembership(operator.workspaces, options.user, options.workspace);
  const { createAccessTokenCodec } = await import('../../access-token-codec.ts');
  const { accessToken, record } = await issueAccessToken(
    operator.credentials,
    await createAccessTokenCodec(JWT_SECRET),
    { workspaceId: workspace.id, userId: user.id },
    { name: options.name, lifetimeSeconds: options.lifetime },
  );

  const { id, name, createdAt, expiresAt } = record;
  await operator.recordAction({
    action: 'access_token.created',
    scope: { workspaceId: workspace.id },
    targetId: id,
    details: { name, userId: user.id, expiresAt: expiresAt.toISOString() },
  });
  const about = `Access token ${name} of ${user.email} in workspace ${workspace.slug}`;
  await printSecret(
    io,
    options,
    { id, name, createdAt, expiresAt, accessToken },
    {
      text: formatSecret(`${about}, valid until ${expiresAt.toISOString()}:`, accessToken),
      remedy: `run \`leads token revoke ${id} --workspace ${workspace.slug}\``,
    },
  );
}

async function listTokens({ credentials }: Operator, { workspaceId, userId, emailOf }: Owners) {
  const tokens = await credentials.listAccessTokens(workspaceId, userId);
  return tokens.map((token) => {
    const { id, name, createdAt, expiresAt, revokedAt } = token;
    const user = emailOf(token.userId);
    return { id, name, user, createdAt, expiresAt, revokedAt, state: credentialState(token) };
  });
}

function parseLifetime(text: string): number {
  const seconds = parseDuration(text);
  if (seconds < tokenLifetime.minimum || seconds > tokenLifetime.maximum) {
    throw new InvalidArgumentError('The lifetime must be from 1h to 365d.');
  }
  return seconds;
}
