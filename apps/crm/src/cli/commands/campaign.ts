import {
  type Campaign,
  type CampaignChanges,
  type CampaignStatus,
  type CampaignView,
  campaignStatuses,
  updateCampaign,
} from '@leads/core/campaign';
import { type Command, Option } from 'commander';
import { parseDuplicateWindow, parseText } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import { examples, jsonOption, workspaceOption } from '../runtime/help.ts';
import { findWorkspace, openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, type OutputOptions, printResult } from '../runtime/output.ts';

interface CreateCampaignOptions extends OutputOptions {
  readonly workspace?: string;
  readonly code: string;
  readonly name: string;
  readonly default?: true;
}

interface ListCampaignsOptions extends OutputOptions {
  readonly workspace?: string;
}

interface UpdateCampaignOptions extends OutputOptions {
  readonly workspace?: string;
  readonly name?: string;
  readonly status?: CampaignStatus;
  readonly duplicateWindow?: number;
  readonly default?: true;
}

const whenLeftOut = 'there is one workspace only';

/** `leads campaign ...` */
export function addCampaignCommands(program: Command): void {
  const campaign = program
    .command('campaign')
    .summary('campaigns of a workspace')
    .description('Campaigns, which leads belong to.');

  campaign
    .command('create')
    .summary('create a campaign')
    .description('Creates an active campaign in a workspace.')
    .addOption(workspaceOption(whenLeftOut))
    .requiredOption('--code <code>', 'what integrators name it by; unique in the workspace', parseText)
    .requiredOption('--name <name>', 'what people call it', parseText)
    .option('--default', "make it the workspace's default, in place of the present one")
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('leads campaign create --workspace acme --code SPRING --name "Spring offer" --default'),
    )
    .action(createCampaign);

  campaign
    .command('update')
    .summary('change a campaign')
    .description(
      'Changes what is named of a campaign. The default campaign stays active: to pause or archive it, make another one the default first.',
    )
    .argument('<code>', 'the code of the campaign')
    .addOption(workspaceOption(whenLeftOut))
    .option('--name <name>', 'what people call it', parseText)
    .addOption(new Option('--status <status>', 'only an active one takes leads').choices(campaignStatuses))
    .option(
      '--duplicate-window <duration>',
      'how long after a lead another of the same phone number is a duplicate, such as 30d; off for none',
      parseDuplicateWindow,
    )
    .option('--default', "make it the workspace's default, in place of the present one")
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads campaign update SPRING --duplicate-window 30d',
        'leads campaign update SPRING --workspace acme --status paused',
      ),
    )
    .action(changeCampaign);

  campaign
    .command('list')
    .summary('list the campaigns of a workspace')
    .description('Lists the campaigns of a workspace, oldest first.')
    .addOption(workspaceOption(whenLeftOut))
    .addOption(jsonOption())
    .addHelpText('after', examples('leads campaign list --workspace acme'))
    .action(listCampaigns);
}

async function createCampaign(options: CreateCampaignOptions): Promise<void> {
  const { code, name } = options;
  await using operator = openOperator();
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const campaign = await operator.campaigns.create({
    workspaceId: workspace.id,
    code,
    name,
    isDefault: options.default === true,
  });
  printResult(
    options,
    toJson(campaign),
    `Campaign ${code} is in workspace ${workspace.slug}${campaign.isDefault ? ', as its default' : ''}.`,
  );
}

async function changeCampaign(code: string, options: UpdateCampaignOptions, command: Command): Promise<void> {
  const { name, status, duplicateWindow } = options;
  const changes: CampaignChanges = {
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(duplicateWindow !== undefined && { duplicateWindowSeconds: duplicateWindow }),
    ...(options.default === true && { isDefault: true }),
  };
  if (Object.keys(changes).length === 0) {
    command.error('error: say what to change: --name, --status, --duplicate-window or --default');
  }
  await using operator = openOperator();
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const found = await operator.campaigns.findByCode(workspace.id, code);
  if (found === undefined) throw new CliError(`Workspace ${workspace.slug} has no campaign ${code}`);
  const campaign = await updateCampaign(operator.campaigns, { workspaceId: workspace.id }, found.id, changes);
  const standing = `${campaign.status}${campaign.isDefault ? `, the default of workspace ${workspace.slug}` : ''}`;
  printResult(options, toJson(campaign), `Campaign ${code} (${campaign.name}) is ${standing}.`);
}

async function listCampaigns(options: ListCampaignsOptions): Promise<void> {
  await using operator = openOperator();
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const campaigns = await operator.campaigns.list(workspace.id);
  const table = formatTable(
    [
      { header: 'CODE', maxWidth: 36, value: ({ code }) => code },
      { header: 'NAME', maxWidth: 36, value: ({ name }) => name },
      { header: 'STATUS', maxWidth: 8, value: ({ status }) => status },
      { header: 'DEFAULT', maxWidth: 7, value: ({ isDefault }) => (isDefault ? 'yes' : '') },
    ],
    campaigns,
    ({ id, createdAt }) => `${id}, created ${formatTime(createdAt)}`,
  );
  printResult(options, campaigns.map(toJson), campaigns.length === 0 ? 'No campaigns.' : table);
}

function toJson(campaign: Campaign | CampaignView) {
  const { id, code, name, status, isDefault, duplicateWindowSeconds, createdAt } = campaign;
  return { id, code, name, status, isDefault, duplicateWindowSeconds, createdAt };
}
