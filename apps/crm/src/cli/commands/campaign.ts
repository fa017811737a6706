import {
  type Campaign,
  type CampaignChanges,
  type CampaignStatus,
  type CampaignView,
  campaignStatuses,
  updateCampaign,
} from '@leads/core/campaign';
import { formatPayout, type Payout } from '@leads/core/payout';
import { type Command, Option } from 'commander';
import { parseDuplicateWindow, parseHoldTime, parsePayout, parseText } from '../runtime/arguments.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findCampaign, findWorkspace } from '../runtime/lookups.ts';
import { openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, printResult } from '../runtime/output.ts';

interface CreateCampaignOptions extends WorkspaceOptions {
  readonly code: string;
  readonly name: string;
  readonly default?: true;
}

interface UpdateCampaignOptions extends WorkspaceOptions {
  readonly name?: string;
  readonly status?: CampaignStatus;
  readonly duplicateWindow?: number;
  readonly approveAfter?: number;
  readonly payout?: Payout | null;
  readonly default?: true;
}

/** Adds `leads campaign` and its subcommands. */
export function addCampaignCommands(program: Command, io: CliIo): void {
  const campaign = program
    .command('campaign')
    .summary('manage the campaigns of a workspace')
    .description('Manages the campaigns of a workspace. Every lead belongs to a campaign.');

  campaign
    .command('create')
    .summary('create a campaign')
    .description('Creates an active campaign in a workspace.')
    .addOption(workspaceOption())
    .requiredOption('--code <code>', 'the campaignCode that clients send; unique in the workspace', parseText)
    .requiredOption('--name <name>', 'the name shown on the website', parseText)
    .option('--default', "make it the workspace's default campaign")
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads campaign create --workspace acme --code SPRING --name "Spring offer" --default'),
    )
    .action((options) => createCampaign(io, options));

  campaign
    .command('update')
    .summary('change a campaign')
    .description(
      'Changes the given properties of a campaign. The default campaign must be active: to pause or archive it, make another campaign the default first.',
    )
    .argument('<code>', 'the code of the campaign')
    .addOption(workspaceOption())
    .option('--name <name>', 'the name shown on the website', parseText)
    .addOption(
      new Option('--status <status>', 'the new status; only active campaigns accept leads').choices(
        campaignStatuses,
      ),
    )
    .option(
      '--duplicate-window <duration>',
      'the time in which another lead with the same phone number is a duplicate, such as 30d; off disables the check',
      parseDuplicateWindow,
    )
    .option(
      '--approve-after <duration>',
      'the hold time after which new leads become Approved, such as 14d; off turns it off, also for waiting leads',
      parseHoldTime,
    )
    .option(
      '--payout <payout>',
      'the amount and the currency of each lead, such as "12.50 EUR"; off removes them',
      parsePayout,
    )
    .option('--default', "make it the workspace's default campaign")
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads campaign update SPRING --duplicate-window 30d',
        'leads campaign update SPRING --payout "12.50 EUR"',
        'leads campaign update SPRING --workspace acme --status paused',
      ),
    )
    .action((code, options, command) => changeCampaign(io, code, options, command));

  campaign
    .command('list')
    .summary('list the campaigns of a workspace')
    .description('Lists the campaigns of a workspace, oldest first.')
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('leads campaign list --workspace acme'))
    .action((options) => listCampaigns(io, options));
}

async function createCampaign(io: CliIo, options: CreateCampaignOptions): Promise<void> {
  const { code, name } = options;
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const campaign = await operator.campaigns.create({
    workspaceId: workspace.id,
    code,
    name,
    isDefault: options.default === true,
  });
  await operator.recordAction({
    action: 'campaign.created',
    scope: { workspaceId: workspace.id },
    targetId: campaign.id,
    details: { code },
  });
  printResult(
    io,
    options,
    toJson(campaign),
    `Created campaign ${code} in workspace ${workspace.slug}${campaign.isDefault ? ' as its default' : ''}.`,
  );
}

async function changeCampaign(
  io: CliIo,
  code: string,
  options: UpdateCampaignOptions,
  command: Command,
): Promise<void> {
  const { name, status, duplicateWindow, approveAfter, payout } = options;
  const changes: Omit<CampaignChanges, 'assigneeIds' | 'approveAfterSeconds'> & {
    approveAfterSeconds?: number;
  } = {
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(duplicateWindow !== undefined && { duplicateWindowSeconds: duplicateWindow }),
    ...(approveAfter !== undefined && { approveAfterSeconds: approveAfter }),
    ...(payout !== undefined && { payout }),
    ...(options.default === true && { isDefault: true }),
  };
  if (Object.keys(changes).length === 0) {
    command.error(
      'error: no change given: set --name, --status, --duplicate-window, --approve-after, --payout or --default',
    );
  }
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const { id } = await findCampaign(operator.campaigns, workspace, code);
  const campaign = await updateCampaign(operator, { workspaceId: workspace.id, role: 'owner' }, id, changes);
  await operator.recordAction({
    action: 'campaign.changed',
    scope: { workspaceId: workspace.id },
    targetId: id,
    details: {
      code,
      ...changes,
      payout: payout === undefined ? undefined : formatPayout(campaign.payout),
    },
  });
  const state = `${campaign.status}${campaign.isDefault ? `, the default of workspace ${workspace.slug}` : ''}`;
  printResult(io, options, toJson(campaign), `Campaign ${code} (${campaign.name}) is ${state}.`);
}

async function listCampaigns(io: CliIo, options: WorkspaceOptions): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const campaigns = await operator.campaigns.list(workspace.id);
  const table = formatTable(
    [
      { header: 'CODE', maxWidth: 36, value: ({ code }) => code },
      { header: 'NAME', maxWidth: 36, value: ({ name }) => name },
      { header: 'STATUS', maxWidth: 8, value: ({ status }) => status },
      { header: 'DEFAULT', maxWidth: 7, value: ({ isDefault }) => (isDefault ? 'yes' : '') },
      { header: 'PAYOUT', maxWidth: 18, value: ({ payout }) => (payout ? formatPayout(payout) : '') },
    ],
    campaigns,
    ({ id, createdAt }) => `${id}, created ${formatTime(createdAt)}`,
  );
  printResult(io, options, campaigns.map(toJson), campaigns.length === 0 ? 'No campaigns.' : table);
}

function toJson(campaign: Campaign | CampaignView) {
  const {
    id,
    code,
    name,
    status,
    isDefault,
    duplicateWindowSeconds,
    approveAfterSeconds,
    payout,
    createdAt,
  } = campaign;
  return {
    id,
    code,
    name,
    status,
    isDefault,
    duplicateWindowSeconds,
    approveAfterSeconds,
    payout,
    createdAt,
  };
}
