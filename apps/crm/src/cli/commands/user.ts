import { createAccounts } from '@leads/core/account';
import { type MemberRole, memberRoles } from '@leads/core/credential';
import { slugOf } from '@leads/core/workspace';
import { type Command, Option } from 'commander';
import { publicUrlOf } from '../../public-url.ts';
import { parseEmail, parseSlug, parseText } from '../runtime/arguments.ts';
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

interface PasswordLinkOptions extends OutputOptions {
  readonly email: string;
}

/** `leads user ...` */
export function addUserCommands(program: Command, io: CliIo): void {
  const user = program
    .command('user')
    .summary('users and their workspaces')
    .description('Users and their workspaces.');

  user
    .command('create')
    .summary('make a user a member of a workspace')
    .description(
      'Makes a user a member of a workspace. The user and the workspace, with its default campaign, are made where they do not exist; the first member of a workspace is its owner.',
    )
    .requiredOption('--email <address>', "the user's email address", parseEmail)
    .requiredOption('--name <name>', "the user's name", parseText)
    .option(
      '--workspace <slug>',
      'the workspace; when left out, a new one named after the workspace name, the email address or the user',
      parseSlug,
    )
    .option('--workspace-name <name>', "a new workspace's name (default: its slug)", parseText)
    .addOption(
      new Option('--role <role>', 'what the user may do; required to join a workspace there is').choices(
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
    .summary('print a link with which a user chooses a password')
    .description(
      'Prints a link to the website with which a user chooses a password. It is valid once, for an hour. Use it for the first password of a user made here, or for a new password if no mails are sent. Give it to that user only.',
    )
    .requiredOption('--email <address>', "the user's email address", parseEmail)
    .addOption(jsonOption())
    .addHelpText('after', examples('leads user password-link --email ada@example.com'))
    .action((options) => printPasswordLink(io, options));
}

async function createUser(io: CliIo, options: CreateUserOptions): Promise<void> {
  const { email, name } = options;
  const slug = options.workspace ?? defaultSlug(options);
  await using operator = openOperator(io);

  const existing = await operator.workspaces.findWorkspace(slug);
  if (existing !== undefined) refuseToJoinUnasked(options, slug);
  const created = await operator.workspaces.addMember({
    email,
    name,
    role: options.role ?? 'owner',
    workspace: { slug, name: options.workspaceName ?? slug },
  });

  const { user, workspace, role, workspaceCreated } = created;
  if (user.name !== name) printNotice(io, `${user.email} was there already, as ${user.name}: the name stays`);
  printResult(
    io,
    options,
    { user, workspace, role, workspaceCreated },
    `${user.email} is ${role} of ${workspaceCreated ? 'the new workspace' : 'workspace'} ${workspace.slug}.`,
  );
}

/** A slug that happens to be another's must let nobody into that workspace, nor a role that was not chosen. */
function refuseToJoinUnasked(options: CreateUserOptions, slug: string): void {
  if (options.workspace === undefined) {
    throw new CliError(
      `Workspace ${slug} exists already: to join it say --workspace ${slug}, for a new one another slug`,
    );
  }
  if (options.role === undefined) {
    throw new CliError(`Workspace ${slug} exists already: to join it say --role ${memberRoles.join('|')}`);
  }
  if (options.workspaceName !== undefined) {
    throw new CliError(`Workspace ${slug} exists already: --workspace-name is for a new one`);
  }
}

function defaultSlug({ workspaceName = '', email, name }: CreateUserOptions): string {
  const slug = slugOf(workspaceName) ?? slugOf(email.slice(0, email.lastIndexOf('@'))) ?? slugOf(name);
  if (slug === undefined) throw new CliError('No slug can be made of these names: say --workspace');
  return slug;
}

async function printPasswordLink(io: CliIo, options: PasswordLinkOptions): Promise<void> {
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
  if (link === undefined) throw new CliError(`There is no user ${options.email}`);
  printResult(io, options, { email: options.email, link }, `Good once, for an hour:\n\n  ${link}`);
}
