import type { Campaign } from '@leads/core/campaign';
import type { Command } from 'commander';
import { parseText } from './arguments.ts';
import { examples, jsonOption, workspaceOption } from './help.ts';
import { findWorkspace, openOperator } from './operator.ts';
import { formatTable, formatTime, type OutputOptions, printResult } from './output.ts';

interface CreateCampaignOptions extends OutputOptions {
  readonly workspace?: string;
  readonly code: string;
  readonly name: string;
  readonly default?: true;
}

interface ListCampaignsOptions extends OutputOptions {
  readonly workspace?: string;
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

function toJson({ id, code, name, status, isDefault, createdAt }: Campaign) {
  return { id, code, name, status, isDefault, createdAt };
}
