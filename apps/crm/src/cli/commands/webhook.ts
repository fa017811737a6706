import {
  createWebhook,
  type DeliveryState,
  type DeliveryView,
  deliveryStates,
  listDeliveries,
  listWebhooks,
  recoverDeliveries,
  sendTest,
  type WebhookView,
} from '@leads/core/delivery';
import { LeadsError } from '@leads/core/errors';
import { LeadEventType } from '@leads/core/event';
import { LeadStatus } from '@leads/core/lead';
import type { Workspace } from '@leads/core/workspace';
import { type Command, Option } from 'commander';
import { webhookDetails } from '../../deliveries/webhook-details.ts';
import { webhookSettingsOf } from '../../deliveries/webhook-settings.ts';
import { parseCount, parseText, parseTimeAgo, parseUuid } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findWorkspace } from '../runtime/lookups.ts';
import { openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, printResult } from '../runtime/output.ts';
import { DeliverySettings, readSettings } from '../runtime/settings.ts';
import { addReencryptCommand } from './webhook-reencrypt.ts';

interface CreateOptions extends WorkspaceOptions {
  readonly url: string;
  readonly event?: readonly LeadEventType[];
  readonly status?: readonly LeadStatus[];
  readonly campaign?: readonly string[];
  readonly imports?: true;
  readonly description?: string;
}

interface DeliveriesOptions extends WorkspaceOptions {
  readonly state?: DeliveryState;
  readonly lead?: string;
  readonly limit: number;
}

interface RecoverOptions extends WorkspaceOptions {
  readonly since: Date;
  readonly until?: Date;
}

/** Adds `leads webhook` and its subcommands. */
export function addWebhookCommands(program: Command, io: CliIo): void {
  const webhook = program
    .command('webhook')
    .summary('manage the webhooks of a workspace')
    .description('Manages the webhooks of a workspace: URLs that receive changes of leads.');
  const idArgument = ['<id>', 'the id of the webhook, as shown by `leads webhook list`', parseUuid] as const;

  webhook
    .command('create')
    .summary('create a webhook')
    .description(
      'Creates an enabled webhook and prints the secret that signs its requests. The secret is not shown again.',
    )
    .addOption(workspaceOption())
    .requiredOption('--url <url>', 'the URL that receives the events by POST')
    .addOption(
      new Option('--event <type...>', 'only events of these types (default: all)').choices(
        LeadEventType.enum,
      ),
    )
    .addOption(
      new Option('--status <status...>', 'only status changes to these statuses (default: all)').choices(
        LeadStatus.enum,
      ),
    )
    .option('--campaign <code...>', 'only leads of these campaigns (default: all)')
    .option('--imports', 'also report the creation of imported leads')
    .option('--description <text>', 'a description for people', parseText)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads webhook create --workspace acme --url https://crm.example.com/hook',
        'leads webhook create --url https://crm.example.com/hook --event lead.status_changed --status Approved',
      ),
    )
    .action((options) => create(io, options));

  webhook
    .command('list')
    .summary('list the webhooks of a workspace')
    .description('Lists the webhooks of a workspace, oldest first.')
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('leads webhook list --workspace acme'))
    .action((options) => list(io, options));

  webhook
    .command('test')
    .summary('send a test event')
    .description('Queues a test event. `leads webhook deliveries` shows the result.')
    .argument(...idArgument)
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('leads webhook test 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'))
    .action((id, options) => test(io, id, options));

  webhook
    .command('deliveries')
    .summary('list the deliveries of a webhook')
    .description('Lists the deliveries of a webhook, newest first. They are kept for 30 days.')
    .argument(...idArgument)
    .addOption(workspaceOption())
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices(deliveryStates))
    .option('--lead <id>', 'only deliveries of this lead', parseUuid)
    .option('--limit <number>', 'the maximum number of deliveries', parseCount, 20)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads webhook deliveries 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f --state failed'),
    )
    .action((id, options) => showDeliveries(io, id, options));

  webhook
    .command('recover')
    .summary('send missed deliveries again')
    .description('Sends the failed and skipped deliveries of a time range again.')
    .argument(...idArgument)
    .addOption(workspaceOption())
    .requiredOption(
      '--since <time>',
      'since this time (ISO 8601) or within this duration (1h, 7d)',
      parseTimeAgo,
    )
    .option('--until <time>', 'before this time (default: now)', parseTimeAgo)
    .addOption(jsonOption())
    .addHelpText('after', examples('leads webhook recover 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f --since 2d'))
    .action((id, options) => recover(io, id, options));

  addReencryptCommand(webhook, io);
}

async function create(io: CliIo, options: CreateOptions): Promise<void> {
  const settings = webhookSettingsOf(readSettings(DeliverySettings, io.env));
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const { event = LeadEventType.enum, status, campaign, description } = options;
  const { webhook, secret } = await explained(
    createWebhook(
      operator.webhooks,
      settings,
      { workspaceId: workspace.id },
      {
        url: options.url,
        events: [...event],
        ...(status !== undefined && { statuses: [...status] }),
        ...(campaign !== undefined && { campaignCodes: [...campaign] }),
        ...(options.imports === true && { includesImports: true }),
        ...(description !== undefined && { description }),
      },
    ),
  );
  await operator.recordAction({
    action: 'webhook.created',
    scope: { workspaceId: workspace.id },
    targetId: webhook.id,
    details: webhookDetails(webhook),
  });
  const text = `Created webhook ${webhook.id} in workspace ${workspace.slug}. Its secret is not shown again:\n${secret}`;
  printResult(io, options, { ...webhook, secret }, text);
}

async function list(io: CliIo, options: WorkspaceOptions): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const webhooks = await listWebhooks(operator.webhooks, { workspaceId: workspace.id });
  const table = formatTable(
    [
      { header: 'URL', maxWidth: 60, value: ({ url }) => url },
      { header: 'STATE', maxWidth: 24, value: stateOf },
      {
        header: 'LAST SUCCESS',
        maxWidth: 16,
        value: ({ lastSuccessAt }) =>
          lastSuccessAt === undefined ? '' : formatTime(new Date(lastSuccessAt)),
      },
    ],
    webhooks,
    ({ id, events }) => `${id}, ${events.join(', ')}`,
  );
  printResult(io, options, webhooks, webhooks.length === 0 ? 'No webhooks.' : table);
}

function stateOf({ enabled, disabledReason, failures }: WebhookView): string {
  if (!enabled) return `disabled (${disabledReason})`;
  return failures > 0 ? `failing (${failures})` : 'enabled';
}

async function test(io: CliIo, id: string, options: WorkspaceOptions): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const delivery = await explained(sendTest(operator.deliveries, operatorOf(workspace), 'webhook', id));
  printResult(io, options, delivery, `Queued the test event ${delivery.messageId}.`);
}

async function showDeliveries(io: CliIo, id: string, options: DeliveriesOptions): Promise<void> {
  const { state, lead } = options;
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const { deliveries } = await explained(
    listDeliveries(operator.deliveries, operatorOf(workspace), 'webhook', id, {
      limit: String(options.limit),
      ...(state !== undefined && { state }),
      ...(lead !== undefined && { leadId: lead }),
    }),
  );
  const table = formatTable(
    [
      { header: 'CREATED', maxWidth: 16, value: ({ createdAt }) => formatTime(new Date(createdAt)) },
      { header: 'EVENT', maxWidth: 19, value: ({ event }) => event },
      { header: 'STATE', maxWidth: 9, value: (delivery) => delivery.state },
      { header: 'ATTEMPTS', maxWidth: 8, value: ({ attempts }) => String(attempts) },
      { header: 'ANSWER', maxWidth: 24, value: ({ statusCode, error }) => String(statusCode ?? error ?? '') },
    ],
    deliveries,
    detailOf,
  );
  printResult(io, options, deliveries, deliveries.length === 0 ? 'No deliveries.' : table);
}

function detailOf({ id, messageId, nextAttemptAt }: DeliveryView): string {
  const next = nextAttemptAt === undefined ? '' : `, next attempt ${formatTime(new Date(nextAttemptAt))}`;
  return `${id}, ${messageId}${next}`;
}

async function recover(io: CliIo, id: string, options: RecoverOptions): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const scope = { workspaceId: workspace.id };
  const range = {
    since: options.since.toISOString(),
    ...(options.until !== undefined && { until: options.until.toISOString() }),
  };
  const deliveries = await explained(
    recoverDeliveries(operator.deliveries, operatorOf(workspace), 'webhook', id, range),
  );
  await operator.recordAction({
    action: 'webhook.recovered',
    scope,
    targetId: id,
    details: { ...range, deliveries },
  });
  printResult(io, options, { deliveries }, `${deliveries} deliveries are sent again.`);
}

const operatorOf = ({ id }: Workspace) => ({ workspaceId: id, role: 'owner' as const });

/** Waits for a use case. @throws CliError that names the webhook or the wrong values. */
async function explained<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof LeadsError)) throw error;
    if (error.code === 'not_found') {
      throw new CliError('The workspace has no such webhook: see `leads webhook list`', { cause: error });
    }
    if (error.fields.length === 0) throw error;
    const reasons = error.fields.map(({ path = '', reason }) => `${path.split('/')[1] ?? ''} ${reason}`);
    throw new CliError(reasons.join('; '), { cause: error });
  }
}
