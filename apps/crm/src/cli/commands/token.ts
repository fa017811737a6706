import { type AccessToken, credentialState, issueAccessToken, tokenLifetime } from '@leads/core/credential';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration, parseText } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import { formatRevocation, formatSecret } from '../runtime/credential.ts';
import { examples, jsonOption, workspaceOption } from '../runtime/help.ts';
import { findMembership, findOwners, findWorkspace, openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, type OutputOptions, printResult } from '../runtime/output.ts';
import { readSettings, SigningSettings } from '../runtime/settings.ts';

interface CreateTokenOptions extends OutputOptions {
  readonly user: string;
  readonly workspace?: string;
  readonly name: string;
  readonly lifetime: number;
}

interface ListTokensOptions extends OutputOptions {
  readonly user?: string;
  readonly workspace?: string;
}

interface RevokeTokenOptions extends OutputOptions {
  readonly workspace?: string;
}

/** `leads token ...` */
export function addTokenCommands(program: Command): void {
  const token = program
    .command('token')
    .summary('access tokens')
    .description('Access tokens, which the CRM service asks for beside the API key.');

  token
    .command('create')
    .summary('create an access token')
    .description(
      'Signs an access token and shows it once. It goes with API keys of the same user and workspace.',
    )
    .requiredOption('--user <email>', 'whose token it is')
    .addOption(workspaceOption('the user is in one workspace only'))
    .requiredOption('--name <name>', 'what the token is for', parseText)
    .addOption(
      new Option('--lifetime <duration>', 'how long it is good, from 1h to 365d')
        .argParser(parseLifetime)
        .default(tokenLifetime.default, '90d'),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads token create --user ada@example.com --name "Production" --lifetime 365d'),
    )
    .action(createToken);

  token
    .command('list')
    .summary('list access tokens')
    .description('Lists the access tokens of a workspace or of one user in it, newest first.')
    .addOption(workspaceOption('there is one only, or the user is in one only'))
    .option('--user <email>', 'only the tokens of this user')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads token list --workspace acme', 'leads token list --user ada@example.com'),
    )
    .action(listTokens);

  token
    .command('revoke')
    .summary('revoke an access token')
    .description('Revokes an access token for good. It is refused everywhere within 10 seconds.')
    .argument('<id>', 'the id of the token, as `leads token list` shows it')
    .addOption(workspaceOption('there is one only'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads token revoke 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f --workspace acme'),
    )
    .action(revokeToken);
}

async function createToken(options: CreateTokenOptions): Promise<void> {
  const { JWT_SECRET } = readSettings(SigningSettings);
  await using operator = openOperator();
  const { user, workspace } = await findMembership(operator.workspaces, options.user, options.workspace);
  const { createAccessTokenCodec } = await import('../../access-token-codec.ts');
  const { accessToken, record } = await issueAccessToken(
    operator.credentials,
    await createAccessTokenCodec(JWT_SECRET),
    { workspaceId: workspace.id, userId: user.id },
    { name: options.name, lifetimeSeconds: options.lifetime },
  );

  const { id, name, createdAt, expiresAt } = record;
  const about = `Access token ${name} of ${user.email} in workspace ${workspace.slug}`;
  printResult(
    options,
    { id, name, createdAt, expiresAt, accessToken },
    formatSecret(`${about}, good until ${expiresAt.toISOString()}:`, accessToken),
  );
}

async function listTokens(options: ListTokensOptions): Promise<void> {
  await using operator = openOperator();
  const { workspaceId, userId, emailOf } = await findOwners(operator.workspaces, options);
  const records = await operator.credentials.listAccessTokens(workspaceId, userId);
  const tokens = records.map((token) => toJson(token, emailOf(token.userId)));

  const table = formatTable(
    [
      { header: 'NAME', maxWidth: 32, value: ({ name }) => name },
      { header: 'USER', maxWidth: 36, value: ({ user }) => user },
      { header: 'EXPIRES (UTC)', maxWidth: 16, value: ({ expiresAt }) => formatTime(expiresAt) },
      { header: 'STATE', maxWidth: 7, value: ({ state }) => state },
    ],
    tokens,
    ({ id, createdAt }) => `${id}, created ${formatTime(createdAt)}`,
  );
  printResult(options, tokens, tokens.length === 0 ? 'No access tokens.' : table);
}

async function revokeToken(tokenId: string, options: RevokeTokenOptions): Promise<void> {
  await using operator = openOperator();
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const at = new Date();
  const token = await operator.credentials.revokeAccessToken(workspace.id, tokenId, at);
  // What was typed is not repeated: it may be a token, by mistake.
  if (token === undefined) {
    throw new CliError(`Workspace ${workspace.slug} has no such access token: give its id`);
  }
  const { id, name, revokedAt } = token;
  printResult(options, { id, name, revokedAt }, formatRevocation(`Access token ${id} (${name})`, token, at));
}

function parseLifetime(text: string): number {
  const seconds = parseDuration(text);
  if (seconds < tokenLifetime.minimum || seconds > tokenLifetime.maximum) {
    throw new InvalidArgumentError('An access token lives from 1h to 365d.');
  }
  return seconds;
}

function toJson(token: AccessToken, user: string) {
  const { id, name, createdAt, expiresAt, revokedAt } = token;
  return { id, name, user, createdAt, expiresAt, revokedAt, state: credentialState(token) };
}
