import { createWebhook, listWebhooks, maxOverlapSeconds, rotateWebhookSecret } from '@leads/core/delivery';
import { LeadEventType } from '@leads/core/event';
import { LeadStatus } from '@leads/core/lead';
import type { Workspace } from '@leads/core/workspace';
import { type Command, Option } from 'commander';
import { webhookSettingsOf } from '../../deliveries/webhook-settings.ts';
import { parseDuration, parseText } from '../runtime/arguments.ts';
import { CliUsageError, translateErrors } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { exampleId, examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findWorkspace } from '../runtime/lookups.ts';
import { openOperator } from '../runtime/operator.ts';
import { formatTable, printResult, printSecret } from '../runtime/output.ts';
import { DeliverySettings, readSettings } from '../runtime/settings.ts';
import {
  addEndpointCommands,
  endpointColumns,
  endpointErrorTexts,
  idArgument,
  recordEndpointAction,
  withEndpoint,
} from './endpoint-commands.ts';
import { addReencryptCommand } from './webhook-reencrypt.ts';

interface CreateOptions extends WorkspaceOptions {
  readonly url: string;
  readonly event?: readonly LeadEventType[];
  readonly status?: readonly LeadStatus[];
  readonly campaign?: readonly string[];
  readonly imports?: true;
  readonly description?: string;
}

interface RotateOptions extends WorkspaceOptions {
  /** In seconds. */
  readonly overlap?: number;
}

/** Adds `leads webhook` and its subcommands. */
export function addWebhookCommands(program: Command, io: CliIo): void {
  const webhook = program
    .command('webhook')
    .summary('manage the webhooks of a workspace')
    .description('Manages the webhooks of a workspace: URLs that receive changes of leads.');

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
    .command('rotate-secret')
    .summary('replace the secret of a webhook')
    .description(
      'Creates a new secret and prints it. It is not shown again. During the overlap, each request is also signed with the old secret.',
    )
    .argument(...idArgument('webhook'))
    .addOption(workspaceOption())
    .option('--overlap <duration>', 'how long the old secret signs, at most 7d (default: 1d)', parseDuration)
    .addOption(jsonOption())
    .addHelpText('after', examples(`leads webhook rotate-secret ${exampleId} --overlap 12h`))
    .action((id, options) => rotateSecret(io, id, options));

  addEndpointCommands(webhook, io, 'webhook');
  addReencryptCommand(webhook, io);
}

async function create(io: CliIo, options: CreateOptions): Promise<void> {
  const settings = webhookSettingsOf(readSettings(DeliverySettings, io.env));
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const { event = LeadEventType.enum, status, campaign, description } = options;
  const { webhook, secret } = await translateErrors(
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
    endpointErrorTexts('webhook'),
  );
  await recordEndpointAction(operator, { workspace, action: 'webhook.created', endpoint: webhook });
  const text = `Created webhook ${webhook.id} in workspace ${workspace.slug}. Its secret is not shown again:\n${secret}`;
  await printSecret(io, options, { ...webhook, secret }, { text, remedy: rotate(webhook.id, workspace) });
}

/** Returns what replaces a lost secret. */
const rotate = (id: string, { slug }: Workspace) =>
  `run \`leads webhook rotate-secret ${id} --workspace ${slug}\``;

async function list(io: CliIo, options: WorkspaceOptions): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const webhooks = await listWebhooks(operator.webhooks, { workspaceId: workspace.id });
  const table = formatTable(endpointColumns, webhooks, ({ id, events }) => `${id}, ${events.join(', ')}`);
  printResult(io, options, webhooks, webhooks.length === 0 ? 'No webhooks.' : table);
}

async function rotateSecret(io: CliIo, id: string, options: RotateOptions): Promise<void> {
  const { overlap } = options;
  if (overlap !== undefined && overlap > maxOverlapSeconds)
    throw new CliUsageError('--overlap must be at most 7d');
  const settings = webhookSettingsOf(readSettings(DeliverySettings, io.env));
  await withEndpoint({ io, kind: 'webhook', options }, async ({ operator, workspace, member }) => {
    const { webhook, secret } = await rotateWebhookSecret(operator.webhooks, settings, member, id, {
      ...(overlap !== undefined && { overlapSeconds: overlap }),
    });
    await recordEndpointAction(operator, { workspace, action: 'webhook.secret_rotated', endpoint: webhook });
    const text = `Replaced the secret of webhook ${id}. The new one is not shown again:\n${secret}`;
    await printSecret(io, options, { ...webhook, secret }, { text, remedy: rotate(id, workspace) });
  });
}
