import {
  type DeliveryState,
  type DeliveryView,
  deletePostback,
  deleteWebhook,
  deliveryStates,
  type EndpointKind,
  type EndpointMember,
  getDelivery,
  listDeliveries,
  type PostbackView,
  recoverDeliveries,
  resendDelivery,
  sendTest,
  updatePostback,
  updateWebhook,
  type WebhookView,
} from '@leads/core/delivery';
import type { AuditAction } from '@leads/core/audit';
import type { Workspace } from '@leads/core/workspace';
import { type Command, Option } from 'commander';
import { postbackDetails } from '../../deliveries/postback-details.ts';
import { webhookDetails } from '../../deliveries/webhook-details.ts';
import { webhookSettingsOf } from '../../deliveries/webhook-settings.ts';
import { parseCount, parseTimeAgo, parseUuid } from '../runtime/arguments.ts';
import { CliError, translateErrors } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { exampleId, examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findWorkspace } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { type Column, formatTable, formatTime, printResult } from '../runtime/output.ts';
import { DeliverySettings, readSettings } from '../runtime/settings.ts';

/* What `leads webhook` and `leads postback` have in common. */

interface DeliveriesOptions extends WorkspaceOptions {
  readonly state?: DeliveryState;
  readonly lead?: string;
  readonly limit: number;
}

interface RecoverOptions extends WorkspaceOptions {
  readonly since: Date;
  readonly until?: Date;
}

interface EnableOptions extends WorkspaceOptions {
  readonly enabled: boolean;
}

interface DeleteOptions extends WorkspaceOptions {
  readonly yes?: true;
}

/** The argument of commands for one webhook or postback. */
export const idArgument = (kind: EndpointKind) =>
  ['<id>', `the id of the ${kind}, as shown by \`leads ${kind} list\``, parseUuid] as const;

/** Adds the commands for one webhook or postback, and for its deliveries. */
export function addEndpointCommands(parent: Command, io: CliIo, kind: EndpointKind): void {
  const add = (name: string, summary: string, description: string, example: string) =>
    parent
      .command(name)
      .summary(summary)
      .description(description)
      .addOption(workspaceOption())
      .addOption(jsonOption())
      .addHelpText('after', examples(`leads ${kind} ${name} ${example}`));

  add('test', 'send a test', `Queues a test. \`leads ${kind} deliveries\` shows the result.`, exampleId)
    .argument(...idArgument(kind))
    .action((id: string, options: WorkspaceOptions) => test(io, kind, id, options));

  add(
    'deliveries',
    `list the deliveries of a ${kind}`,
    `Lists the deliveries of a ${kind}, newest first. They are kept for 30 days.`,
    `${exampleId} --state failed`,
  )
    .argument(...idArgument(kind))
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices(deliveryStates))
    .option('--lead <id>', 'only deliveries of this lead', parseUuid)
    .option('--limit <number>', 'the maximum number of deliveries', parseCount, 20)
    .action((id: string, options: DeliveriesOptions) => showDeliveries(io, kind, id, options));

  add('resend', 'send one delivery again', 'Sends one delivery again, whatever its state.', exampleId)
    .argument('<id>', `the id of the delivery, as shown by \`leads ${kind} deliveries\``, parseUuid)
    .action((id: string, options: WorkspaceOptions) => resend(io, kind, id, options));

  add(
    'recover',
    'send missed deliveries again',
    kind === 'webhook'
      ? 'Sends the failed and skipped deliveries of a time range again.'
      : 'Sends the failed and skipped deliveries of a time range again. Of each lead, only the newest status is sent.',
    `${exampleId} --since 2d`,
  )
    .argument(...idArgument(kind))
    .requiredOption(
      '--since <time>',
      'since this time (ISO 8601) or within this duration (1h, 7d)',
      parseTimeAgo,
    )
    .option('--until <time>', 'before this time (default: now)', parseTimeAgo)
    .action((id: string, options: RecoverOptions) => recover(io, kind, id, options));

  add(
    'enable',
    `enable a ${kind}`,
    `Enables a ${kind} and resets its failures. \`leads ${kind} recover\` sends what it has missed.`,
    exampleId,
  )
    .argument(...idArgument(kind))
    .action((id: string, options: WorkspaceOptions) =>
      setEnabled(io, kind, id, { ...options, enabled: true }),
    );

  add(
    'disable',
    `disable a ${kind}`,
    `Disables a ${kind}. Its events are skipped until it is enabled again.`,
    exampleId,
  )
    .argument(...idArgument(kind))
    .action((id: string, options: WorkspaceOptions) =>
      setEnabled(io, kind, id, { ...options, enabled: false }),
    );

  add(
    'delete',
    `delete a ${kind}`,
    `Deletes a ${kind} and the list of its deliveries. Nothing more is sent to it.`,
    `${exampleId} --yes`,
  )
    .argument(...idArgument(kind))
    .option('--yes', `delete the ${kind}`)
    .action((id: string, options: DeleteOptions) => remove(io, kind, id, options));
}

/** Returns the member that the command line acts as. It manages the webhooks and postbacks of all members. */
export const operatorOf = ({ id }: Workspace): EndpointMember => ({ workspaceId: id, role: 'owner' });

/** Returns the state of a webhook or a postback in a table. */
function stateOf({ enabled, disabledReason, failures }: WebhookView | PostbackView): string {
  if (!enabled) return `disabled (${disabledReason})`;
  return failures > 0 ? `failing (${failures})` : 'enabled';
}

/** The columns of a table of webhooks or postbacks. */
export const endpointColumns = [
  { header: 'URL', maxWidth: 60, value: ({ url }: WebhookView | PostbackView) => url },
  { header: 'STATE', maxWidth: 24, value: stateOf },
  {
    header: 'SUCCESS',
    maxWidth: 7,
    value: ({ successRate }: WebhookView | PostbackView) =>
      successRate === undefined ? '' : `${Math.floor(successRate * 1_000) / 10}%`,
  },
  {
    header: 'LAST SUCCESS',
    maxWidth: 16,
    value: ({ lastSuccessAt }: WebhookView | PostbackView) =>
      lastSuccessAt === undefined ? '' : formatTime(new Date(lastSuccessAt)),
  },
];

async function test(io: CliIo, kind: EndpointKind, id: string, options: WorkspaceOptions): Promise<void> {
  await withEndpoint({ io, kind, options }, async ({ operator, member }) => {
    const delivery = await sendTest(operator.deliveries, member, kind, id);
    printResult(io, options, delivery, `Queued the test ${delivery.messageId ?? delivery.id}.`);
  });
}

async function showDeliveries(
  io: CliIo,
  kind: EndpointKind,
  id: string,
  options: DeliveriesOptions,
): Promise<void> {
  const { state, lead } = options;
  await withEndpoint({ io, kind, options }, async ({ operator, member }) => {
    const { deliveries } = await listDeliveries(operator.deliveries, member, kind, id, {
      limit: String(options.limit),
      ...(state !== undefined && { state }),
      ...(lead !== undefined && { leadId: lead }),
    });
    const table = formatTable(deliveryColumns, deliveries, detailOf);
    printResult(io, options, deliveries, deliveries.length === 0 ? 'No deliveries.' : table);
  });
}

const deliveryColumns: readonly Column<DeliveryView>[] = [
  { header: 'CREATED', maxWidth: 16, value: ({ createdAt }) => formatTime(new Date(createdAt)) },
  { header: 'EVENT', maxWidth: 19, value: ({ event }) => event },
  { header: 'STATE', maxWidth: 19, value: stateOfDelivery },
  { header: 'ATTEMPTS', maxWidth: 8, value: ({ attempts }) => String(attempts) },
  { header: 'ANSWER', maxWidth: 24, value: ({ statusCode, error }) => String(error ?? statusCode ?? '') },
];

function stateOfDelivery({ state, skipReason }: DeliveryView): string {
  return skipReason === undefined ? state : `${state} (${skipReason})`;
}

function detailOf({ id, messageId, request, nextAttemptAt }: DeliveryView): string[] {
  const next = nextAttemptAt === undefined ? '' : `, next attempt ${formatTime(new Date(nextAttemptAt))}`;
  const message = messageId === undefined ? '' : `, ${messageId}`;
  return [`${id}${message}${next}`, ...(request === undefined ? [] : [request])];
}

async function resend(io: CliIo, kind: EndpointKind, id: string, options: WorkspaceOptions): Promise<void> {
  const notFound = `The workspace has no such delivery of a ${kind}: see \`leads ${kind} deliveries\``;
  await withEndpoint({ io, kind, options, notFound }, async ({ operator, member }) => {
    const found = await getDelivery(operator.deliveries, member, id);
    if ((found.webhookId === undefined) === (kind === 'webhook')) throw new CliError(notFound);
    const delivery = await resendDelivery(operator.deliveries, member, id);
    printResult(io, options, delivery, `The delivery ${id} is sent again.`);
  });
}

async function recover(io: CliIo, kind: EndpointKind, id: string, options: RecoverOptions): Promise<void> {
  const range = {
    since: options.since.toISOString(),
    ...(options.until !== undefined && { until: options.until.toISOString() }),
  };
  await withEndpoint({ io, kind, options }, async ({ operator, workspace, member }) => {
    const deliveries = await recoverDeliveries(operator.deliveries, member, kind, id, range);
    await operator.recordAction({
      action: `${kind}.recovered`,
      scope: { workspaceId: workspace.id },
      targetId: id,
      details: { ...range, deliveries },
    });
    printResult(io, options, { deliveries }, `${deliveries} deliveries are sent again.`);
  });
}

async function setEnabled(io: CliIo, kind: EndpointKind, id: string, options: EnableOptions): Promise<void> {
  const { enabled } = options;
  const settings = webhookSettingsOf(readSettings(DeliverySettings, io.env));
  await withEndpoint({ io, kind, options }, async ({ operator, workspace, member }) => {
    const endpoint =
      kind === 'webhook'
        ? await updateWebhook(operator.webhooks, settings, member, id, { enabled })
        : await updatePostback(operator.postbacks, settings, member, id, { enabled });
    await recordEndpointAction(operator, {
      workspace,
      action: `${kind}.changed`,
      endpoint,
      details: { changed: 'enabled' },
    });
    printResult(io, options, endpoint, `${enabled ? 'Enabled' : 'Disabled'} ${kind} ${id}.`);
  });
}

async function remove(io: CliIo, kind: EndpointKind, id: string, options: DeleteOptions): Promise<void> {
  if (options.yes === undefined) {
    throw new CliError(`No ${kind} was deleted; use --yes to delete ${id} and the list of its deliveries`);
  }
  await withEndpoint({ io, kind, options }, async ({ operator, workspace, member }) => {
    const endpoint =
      kind === 'webhook'
        ? await deleteWebhook(operator.webhooks, member, id)
        : await deletePostback(operator.postbacks, member, id);
    await recordEndpointAction(operator, { workspace, action: `${kind}.deleted`, endpoint });
    printResult(io, options, endpoint, `Deleted ${kind} ${id}.`);
  });
}

interface EndpointCommand {
  readonly io: CliIo;
  readonly kind: EndpointKind;
  readonly options: WorkspaceOptions;
  /** The message if there is no such object, by default for the webhook or the postback. */
  readonly notFound?: string;
}

/** The objects that a command for one webhook or postback works with. */
interface EndpointContext {
  readonly operator: Operator;
  readonly workspace: Workspace;
  readonly member: EndpointMember;
}

/**
 * Opens the stores, finds the workspace, and runs a command for one webhook or postback.
 *
 * @throws CliError that names the object or the wrong values.
 */
export async function withEndpoint(
  { io, kind, options, notFound }: EndpointCommand,
  run: (context: EndpointContext) => Promise<void>,
): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const work = run({ operator, workspace, member: operatorOf(workspace) });
  await translateErrors(work, endpointErrorTexts(kind, notFound));
}

/** Returns the errors of a use case of webhooks or postbacks in terms of the command. */
export const endpointErrorTexts = (
  kind: EndpointKind,
  notFound = `The workspace has no such ${kind}: see \`leads ${kind} list\``,
) => ({
  messages: { not_found: notFound },
  nameOf: (path: string) => path.split('/')[1] ?? '',
});

interface EndpointAction {
  readonly workspace: Workspace;
  readonly action: Extract<AuditAction, `${EndpointKind}.${string}`>;
  readonly endpoint: WebhookView | PostbackView;
  readonly details?: Readonly<Record<string, string>>;
}

/** Records an action of a webhook or a postback in the audit log. */
export async function recordEndpointAction(
  { recordAction }: Operator,
  { workspace, action, endpoint, details }: EndpointAction,
): Promise<void> {
  const described = 'events' in endpoint ? webhookDetails(endpoint) : postbackDetails(endpoint);
  await recordAction({
    action,
    scope: { workspaceId: workspace.id },
    targetId: endpoint.id,
    details: { ...described, ...details },
  });
}
