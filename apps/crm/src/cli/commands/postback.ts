import { createPostback, listPostbacks, type NewPostback, type PostbackView } from '@leads/core/delivery';
import { LeadStatus } from '@leads/core/lead';
import { type Command, Option } from 'commander';
import { webhookSettingsOf } from '../../deliveries/webhook-settings.ts';
import { parseText } from '../runtime/arguments.ts';
import { translateErrors } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findMembership, findWorkspace } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { formatTable, printResult } from '../runtime/output.ts';
import { DeliverySettings, readSettings } from '../runtime/settings.ts';
import {
  addEndpointCommands,
  endpointColumns,
  endpointErrorTexts,
  operatorOf,
  recordEndpointAction,
} from './endpoint-commands.ts';

interface UserOptions extends WorkspaceOptions {
  readonly user?: string;
}

interface CreateOptions extends UserOptions {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly form?: string;
  readonly jsonBody?: string;
  readonly status?: readonly LeadStatus[];
  readonly campaign?: string;
  readonly imports?: true;
  readonly withoutS1?: true;
  readonly answerContains?: string;
  readonly description?: string;
}

/** Adds `leads postback` and its subcommands. */
export function addPostbackCommands(program: Command, io: CliIo): void {
  const postback = program
    .command('postback')
    .summary('manage the postbacks of a workspace and its members')
    .description(
      'Manages postbacks: URL templates that report statuses of leads to trackers, for a workspace or for one of its members.',
    );

  postback
    .command('create')
    .summary('create a postback')
    .description('Creates an enabled postback of the workspace, or with --user of one of its members.')
    .addOption(workspaceOption())
    .option('--user <email>', 'the member whose leads it reports (default: all leads of the workspace)')
    .requiredOption('--url <template>', 'the template of the URL, with macros such as {s1} and {status}')
    .addOption(
      new Option('--method <method>', 'the method (default: POST with a body, else GET)').choices([
        'GET',
        'POST',
      ]),
    )
    .addOption(new Option('--form <template>', 'the template of a body with a form').conflicts('jsonBody'))
    .option('--json-body <template>', 'the template of a body with JSON')
    .addOption(
      new Option('--status <status...>', 'the statuses to send (default: Approved)').choices(LeadStatus.enum),
    )
    .option('--campaign <code>', 'only leads of this campaign (default: all)')
    .option('--imports', 'also report the first status of imported leads')
    .option('--without-s1', 'also report leads without s1')
    .option('--answer-contains <text>', 'the text that an answer must contain', parseText)
    .option('--description <text>', 'a description for people', parseText)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        "leads postback create --url 'https://tracker.example/postback?cid={s1}&status={status:Approved=sale}'",
        "leads postback create --user ann@example.com --url 'https://tracker.example/p' --form 'cid={s1}' --status Approved Trashed",
      ),
    )
    .action((options) => create(io, options));

  postback
    .command('list')
    .summary('list the postbacks of a workspace and its members')
    .description('Lists the postbacks of a workspace and of its members, oldest first.')
    .addOption(workspaceOption())
    .option('--user <email>', 'only the postbacks of this member')
    .addOption(jsonOption())
    .addHelpText('after', examples('leads postback list --workspace acme'))
    .action((options) => list(io, options));

  addEndpointCommands(postback, io, 'postback');
}

/** Returns the workspace, and the member of `--user`. Without `--user`, the member is the command line. */
async function findMember({ workspaces }: Operator, { user, workspace: slug }: UserOptions) {
  if (user === undefined) {
    const workspace = await findWorkspace(workspaces, slug);
    return { workspace, member: operatorOf(workspace) };
  }
  const { workspace, user: found } = await findMembership(workspaces, user, slug);
  // As a publisher, so that only its own postbacks are visible.
  return { workspace, member: { workspaceId: workspace.id, userId: found.id, role: 'publisher' as const } };
}

async function create(io: CliIo, options: CreateOptions): Promise<void> {
  const settings = webhookSettingsOf(readSettings(DeliverySettings, io.env));
  await using operator = openOperator(io);
  const { workspace, member } = await findMember(operator, options);
  const { url, form, jsonBody, status, campaign, answerContains, description } = options;
  const body = form ?? jsonBody;
  const given: NewPostback = {
    url,
    owner: options.user === undefined ? 'workspace' : 'user',
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body !== undefined && { body, bodyFormat: form === undefined ? 'json' : 'form' }),
    ...(status !== undefined && { statuses: [...status] }),
    ...(campaign !== undefined && { campaignCode: campaign }),
    ...(options.imports === true && { includesImports: true }),
    ...(options.withoutS1 === true && { sendsWithoutS1: true }),
    ...(answerContains !== undefined && { answerContains }),
    ...(description !== undefined && { description }),
  };
  const postback = await translateErrors(
    createPostback(operator.postbacks, settings, member, given),
    endpointErrorTexts('postback'),
  );
  await recordEndpointAction(operator, { workspace, action: 'postback.created', endpoint: postback });
  const text = `Created postback ${postback.id} in workspace ${workspace.slug}.`;
  printResult(io, options, postback, text);
}

async function list(io: CliIo, options: UserOptions): Promise<void> {
  await using operator = openOperator(io);
  const { member } = await findMember(operator, options);
  const postbacks = await listPostbacks(operator.postbacks, member);
  const members = await operator.workspaces.listMembers(member.workspaceId);
  const emails = new Map(members.map(({ user }) => [user.id, user.email]));
  const ownerOf = ({ userId }: PostbackView) =>
    userId === undefined ? 'of the workspace' : `of ${emails.get(userId) ?? 'a former member'}`;
  const table = formatTable(
    endpointColumns,
    postbacks,
    (postback) => `${postback.id}, ${ownerOf(postback)}, ${postback.statuses.join(', ')}`,
  );
  printResult(io, options, postbacks, postbacks.length === 0 ? 'No postbacks.' : table);
}
