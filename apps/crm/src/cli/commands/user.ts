import { createAccounts } from '@leads/core/account';
import { type MemberRole, memberRoles } from '@leads/core/credential';
import { slugOf } from '@leads/core/workspace';
import { type Command, Option } from 'commander';
import { publicUrlOf } from '../../public-url.ts';
import { parseUserEmail, parseSlug, parseText } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { openOperator } from '../runtime/operator.ts';
import { type OutputOptions, printNotice, printResult } from '../runtime/output.ts';
import { PasswordLinkSettings, readSettings, SigningSettings } from '../runtime/settings.ts';

interface CreateUserOptions extends OutputOptions {
  readonly email: string;
  readonly name: string;
  readonly workspace?: string;
  readonly workspaceName?: string;
  readonly role?: MemberRole;
}

interface NamedUserOptions extends OutputOptions {
  readonly email: string;
}

/** Adds `leads user` and its subcommands. */
export function addUserCommands(program: Command, io: CliIo): void {
  const user = program
    .command('user')
    .summary('manage users and their workspaces')
    .description('Manages users and their workspaces.');

  user
    .command('create')
    .summary('add a user to a workspace')
    .description(
      'Adds a user to a workspace. Creates the user if there is none, and the workspace with a default campaign if there is none. The first member of a workspace is its owner.',
    )
    .requiredOption('--email <address>', "the user's email address", parseUserEmail)
    .requiredOption('--name <name>', "the user's name", parseText)
    .option(
      '--workspace <slug>',
      'the workspace (default: a new one, with a slug made of the workspace name, the email address or the user name)',
      parseSlug,
    )
    .option('--workspace-name <name>', 'the name of a new workspace (default: its slug)', parseText)
    .addOption(
      new Option('--role <role>', 'the role of the user; required for an existing workspace').choices(
        memberRoles,
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads user create --email ada@example.com --name "Ada Lovelace" --workspace acme',
        'leads user create --email bob@example.com --name Bob --workspace acme --role publisher',
      ),
    )
    .action((options) => createUser(io, options));

  user
    .command('password-link')
    .summary('print a link to set a password')
    .description(
      'Prints a link to the website where a user sets a password. The link is valid for 1 hour and for one use. Use it for the first password of a new user, or for a new password if the service sends no mail. Give it to that user only.',
    )
    .requiredOption('--email <address>', "the user's email address", parseUserEmail)
    .addOption(jsonOption())
    .addHelpText('after', examples('leads user password-link --email ada@example.com'))
    .action((options) => printPasswordLink(io, options));

  user
    .command('reset-second-factor')
    .summary('remove the second factor of a user')
    .description(
      'Removes the second factor of a user, and ends all sessions. The user then signs in with the password alone, and can set up a new second factor. Use it if the user has lost the authenticator app and the recovery codes, or after a change of JWT_SECRET. Check first that the user asks for it.',
    )
    .requiredOption('--email <address>', "the user's email address", parseUserEmail)
    .addOption(jsonOption())
    .addHelpText('after', examples('leads user reset-second-factor --email ada@example.com'))
    .action((options) => resetSecondFactor(io, options));
}

async function createUser(io: CliIo, options: CreateUserOptions): Promise<void> {
  const { email, name } = options;
  const slug = options.workspace ?? defaultSlug(options);
  await using operator = openOperator(io);

  const existing = await operator.workspaces.findWorkspace(slug);
  if (existing !== undefined) requireExplicitJoin(options, slug);
  const created = await operator.workspaces.addMember({
    email,
    name,
    role: options.role ?? 'owner',
    workspace: { slug, name: options.workspaceName ?? slug },
  });

  const { user, workspace, role, workspaceCreated } = created;
  const scope = { workspaceId: workspace.id };
  if (workspaceCreated) {
    await operator.recordAction({ action: 'workspace.created', scope, details: { name: workspace.name } });
  }
  await operator.recordAction({
    action: 'member.added',
    scope,
    targetId: user.id,
    details: { role, email: user.email },
  });
  if (user.name !== name)
    printNotice(io, `User ${user.email} already exists as ${user.name}; the name is unchanged`);
  printResult(
    io,
    options,
    { user, workspace, role, workspaceCreated },
    `${user.email} is ${role} of ${workspaceCreated ? 'the new workspace' : 'workspace'} ${workspace.slug}.`,
  );
}

/** Rejects an existing workspace that the operator did not name, or that the operator named without a role. */
function requireExplicitJoin(options: CreateUserOptions, slug: string): void {
  if (options.workspace === undefined) {
    throw new CliError(
      `Workspace ${slug} already exists: join it with --workspace ${slug}, or set another slug for a new one`,
    );
  }
  if (options.role === undefined) {
    throw new CliError(`Workspace ${slug} already exists: set --role ${memberRoles.join('|')} to join it`);
  }
  if (options.workspaceName !== undefined) {
    throw new CliError(`Workspace ${slug} already exists: --workspace-name is for a new one`);
  }
}

function defaultSlug({ workspaceName = '', email, name }: CreateUserOptions): string {
  const slug = slugOf(workspaceName) ?? slugOf(email.slice(0, email.lastIndexOf('@'))) ?? slugOf(name);
  if (slug === undefined) throw new CliError('No slug can be derived from these names: set --workspace');
  return slug;
}

async function printPasswordLink(io: CliIo, options: NamedUserOptions): Promise<void> {
  const { JWT_SECRET } = readSettings(SigningSettings, io.env);
  const publicUrl = publicUrlOf(readSettings(PasswordLinkSettings, io.env));
  await using operator = openOperator(io);
  const accounts = createAccounts({
    ...operator.accounts,
    workspaces: operator.workspaces,
    secret: JWT_SECRET,
    publicUrl,
    signUp: false,
    onError(error) {
      throw error;
    },
  });
  const link = await accounts.passwordLink(options.email);
  if (link === undefined) throw new CliError(`User ${options.email} does not exist`);
  printResult(io, options, { email: options.email, link }, `Valid for 1 hour and for one use:\n\n  ${link}`);
}

async function resetSecondFactor(io: CliIo, options: NamedUserOptions): Promise<void> {
  await using operator = openOperator(io);
  const user = await operator.workspaces.findUser(options.email);
  if (user === undefined) throw new CliError(`User ${options.email} does not exist`);
  if (!(await operator.accounts.store.removeSecondFactor(user.id)))
    throw new CliError(`User ${user.email} has no second factor`);
  await operator.recordAction({
    action: 'two_factor.disabled',
    scope: { userId: user.id },
    targetId: user.id,
    details: { email: user.email, revokeOtherSessions: true },
  });
  printResult(io, options, { user }, `Removed the second factor of ${user.email}. All sessions have ended.`);
}
