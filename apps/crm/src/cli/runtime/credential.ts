import type { CredentialLife } from '@leads/core/credential';
import type { WorkspaceStore } from '@leads/core/workspace';
import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import type { CliIo } from './cli-io.ts';
import { examples, jsonOption, type WorkspaceOptions, workspaceOption } from './help.ts';
import { findMembership, findWorkspace } from './lookups.ts';
import { type Operator, openOperator } from './operator.ts';
import { type Column, formatTable, formatTime, printResult } from './output.ts';

/* The code that `leads key` and `leads token` share. */

/** The users whose credentials a command lists: one member, or all members of the workspace. */
export interface Owners {
  readonly workspaceId: string;
  readonly userId?: string;
  readonly emailOf: (userId: string) => string;
}

interface ListedCredential extends CredentialLife {
  readonly id: string;
  readonly name: string;
  /** The email address of the owner. */
  readonly user: string;
  readonly createdAt: Date;
  readonly state: string;
}

interface RevokedCredential extends CredentialLife {
  readonly id: string;
  readonly name: string;
  readonly prefix?: string;
}

interface CredentialKind<Listed> {
  readonly noun: 'API key' | 'access token';
  readonly widths: { readonly name: number; readonly user: number };
  /** The columns between the user and the expiry. */
  readonly columns: readonly Column<Listed>[];
  /** Returns further lines about a credential. */
  readonly detail?: (credential: Listed) => string[];
  readonly list: (operator: Operator, owners: Owners) => Promise<Listed[]>;
  /** The argument of `revoke`, its description, and the identifiers that an error message suggests. */
  readonly revokedBy: { readonly argument: string; readonly description: string; readonly hint: string };
  readonly revokeExample: string;
  /** @returns `undefined` if the workspace has no such credential. */
  readonly revoke: (
    operator: Operator,
    workspaceId: string,
    id: string,
    at: Date,
  ) => Promise<RevokedCredential | undefined>;
}

/** Adds the subcommands `list` and `revoke`. */
export function addListAndRevokeCommands<Listed extends ListedCredential>(
  parent: Command,
  io: CliIo,
  kind: CredentialKind<Listed>,
): void {
  const { noun, revokedBy } = kind;
  const command = `leads ${parent.name()}`;
  parent
    .command('list')
    .summary(`list ${noun}s`)
    .description(`Lists the ${noun}s of a workspace or of one user in it, newest first.`)
    .addOption(workspaceOption('there is only one workspace, or the user is a member of only one'))
    .option('--user <email>', `only the ${parent.name()}s of this user`)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(`${command} list --workspace acme`, `${command} list --user ada@example.com`),
    )
    .action((options) => listCredentials(io, options, kind));

  parent
    .command('revoke')
    .summary(`revoke an ${noun}`)
    .description(`Permanently revokes an ${noun}. All services reject it within 10 seconds.`)
    .argument(revokedBy.argument, revokedBy.description)
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples(kind.revokeExample))
    .action((id, options) => revokeCredential(io, id, options, kind));
}

/** Formats a new secret with its description. */
export function formatSecret(description: string, secret: string): string {
  return `${description}\n\n  ${secret}\n\nIt is shown only once and is not stored: keep it in a safe place.`;
}

async function listCredentials<Listed extends ListedCredential>(
  io: CliIo,
  options: WorkspaceOptions & { readonly user?: string },
  { noun, widths, columns, detail, list }: CredentialKind<Listed>,
): Promise<void> {
  await using operator = openOperator(io);
  const credentials = await list(operator, await findOwners(operator.workspaces, options));
  const table = formatTable(
    [
      { header: 'NAME', maxWidth: widths.name, value: ({ name }) => name },
      { header: 'USER', maxWidth: widths.user, value: ({ user }) => user },
      ...columns,
      {
        header: 'EXPIRES (UTC)',
        maxWidth: 16,
        value: ({ expiresAt }) => (expiresAt === undefined ? 'never' : formatTime(expiresAt)),
      },
      { header: 'STATE', maxWidth: 7, value: ({ state }) => state },
    ],
    credentials,
    (credential) => [
      `${credential.id}, created ${formatTime(credential.createdAt)}`,
      ...(detail?.(credential) ?? []),
    ],
  );
  printResult(io, options, credentials, credentials.length === 0 ? `No ${noun}s.` : table);
}

async function revokeCredential<Listed>(
  io: CliIo,
  requestedId: string,
  options: WorkspaceOptions,
  { noun, revokedBy, revoke }: CredentialKind<Listed>,
): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const at = new Date();
  const credential = await revoke(operator, workspace.id, requestedId, at);
  // The message omits the argument, which may be a secret typed by mistake.
  if (credential === undefined) {
    throw new CliError(`Workspace ${workspace.slug} has no such ${noun}: use ${revokedBy.hint}`);
  }
  const { id, name, prefix, revokedAt } = credential;
  const label = `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${prefix ?? id} (${name})`;
  const text =
    revokedAt !== undefined && revokedAt < at
      ? `${label} was already revoked at ${revokedAt.toISOString()}.`
      : `${label} is revoked. All services reject it within 10 seconds.`;
  printResult(io, options, { id, name, prefix, revokedAt }, text);
}

/** @throws CliError as {@link findMembership} and {@link findWorkspace} do. */
async function findOwners(
  workspaces: WorkspaceStore,
  options: { readonly user?: string; readonly workspace?: string },
): Promise<Owners> {
  if (options.user !== undefined) {
    const { user, workspace } = await findMembership(workspaces, options.user, options.workspace);
    return { workspaceId: workspace.id, userId: user.id, emailOf: () => user.email };
  }
  const workspace = await findWorkspace(workspaces, options.workspace);
  const members = await workspaces.listMembers(workspace.id);
  const emails = new Map(members.map(({ user }) => [user.id, user.email]));
  return { workspaceId: workspace.id, emailOf: (userId) => emails.get(userId) ?? userId };
}
