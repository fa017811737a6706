import { findCampaignToMap, type LandingPage, type LandingPageState } from '@leads/core/campaign';
import { LeadsError } from '@leads/core/errors';
import type { Workspace } from '@leads/core/workspace';
import { type Command, Option } from 'commander';
import { parseText } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption, type WorkspaceOptions, workspaceOption } from '../runtime/help.ts';
import { findWorkspace } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, printResult } from '../runtime/output.ts';

interface ListLandingPagesOptions extends WorkspaceOptions {
  readonly mapped?: true;
  readonly unmapped?: true;
  readonly pending?: true;
  readonly dismissed?: true;
}

interface MapLandingPageOptions extends WorkspaceOptions {
  readonly campaign?: string;
  readonly none?: true;
}

/** The number of landing pages that one query reads. */
const pageSize = 1000;

/** Adds `leads landing-page` and its subcommands. */
export function addLandingPageCommands(program: Command, io: CliIo): void {
  const landingPage = program
    .command('landing-page')
    .summary('manage the landing pages of a workspace')
    .description('Manages landing pages and the campaigns of their leads.');

  landingPage
    .command('list')
    .summary('list the landing pages of a workspace')
    .description('Lists the landing pages of a workspace by name.')
    .addOption(workspaceOption())
    .addOption(new Option('--mapped', 'only landing pages with a campaign').conflicts('unmapped'))
    .option('--unmapped', 'only landing pages without a campaign')
    .addOption(
      new Option('--pending', 'the landing pages that wait for approval, instead of all others').conflicts(
        'dismissed',
      ),
    )
    .option('--dismissed', 'the dismissed landing pages, instead of all others')
    .addOption(jsonOption())
    .addHelpText('after', examples('leads landing-page list --workspace acme --unmapped'))
    .action((options) => listLandingPages(io, options));

  landingPage
    .command('map')
    .summary('map a landing page to a campaign')
    .description(
      'Assigns new leads of a landing page to a campaign, as long as the campaign is active. Registers the landing page if it does not exist.',
    )
    .argument('<name>', 'the lp_name that the landing page sends', parseText)
    .addOption(workspaceOption())
    .addOption(
      new Option('--campaign <code>', 'the campaign; it must be active or paused')
        .argParser(parseText)
        .conflicts('none'),
    )
    .option('--none', 'remove the mapping: leads get the default campaign of their API key or workspace')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads landing-page map spring-offer --campaign SPRING',
        'leads landing-page map spring-offer --workspace acme --none',
      ),
    )
    .action((name, options, command) => mapLandingPage(io, name, options, command));

  for (const [verb, summary, effect] of [
    [
      'dismiss',
      'dismiss a landing page without a campaign',
      'It stays dismissed when further leads name it.',
    ],
    ['restore', 'let a dismissed landing page wait for approval', 'Map it to approve it.'],
  ] as const) {
    landingPage
      .command(verb)
      .summary(summary)
      .description(
        `${summary[0]?.toUpperCase()}${summary.slice(1)}. ${effect} Its leads are stored as before.`,
      )
      .argument('<name>', 'the lp_name that the landing page sends', parseText)
      .addOption(workspaceOption())
      .addOption(jsonOption())
      .addHelpText('after', examples(`leads landing-page ${verb} spring-offer --workspace acme`))
      .action((name, options) => dismissLandingPage(io, name, options, verb === 'dismiss'));
  }
}

async function listLandingPages(io: CliIo, options: ListLandingPagesOptions): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const { pending, dismissed } = options;
  const state: LandingPageState = pending ? 'pending' : dismissed ? 'dismissed' : 'approved';
  const filter = { state, mapped: options.mapped ?? (options.unmapped === true ? false : undefined) };
  const pages: LandingPage[] = [];
  for (let size = pageSize; size === pageSize; ) {
    const piece = { limit: pageSize, after: pages.at(-1)?.name };
    const more = await operator.landingPages.list(workspace.id, filter, piece);
    pages.push(...more);
    size = more.length;
  }
  const table = formatTable(
    [
      { header: 'NAME', maxWidth: 60, value: ({ name }) => name },
      { header: 'CAMPAIGN', maxWidth: 36, value: ({ campaignCode }) => campaignCode ?? '' },
    ],
    pages,
    ({ id, createdAt }) => `${id}, registered ${formatTime(createdAt)}`,
  );
  printResult(io, options, pages.map(toJson), pages.length === 0 ? 'No landing pages.' : table);
}

async function mapLandingPage(
  io: CliIo,
  name: string,
  options: MapLandingPageOptions,
  command: Command,
): Promise<void> {
  if (options.campaign === undefined && options.none !== true) {
    command.error('error: no mapping given: set --campaign <code> or --none');
  }
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const campaignId = await findCampaignIdToMap(operator, workspace, options.campaign);
  await operator.landingPages.add([{ workspaceId: workspace.id, name }]);
  const page = await operator.landingPages.map(workspace.id, { name }, campaignId);
  if (page === undefined) throw new Error('The registered landing page was not found');
  await operator.recordAction({
    action: 'landing_page.mapped',
    scope: { workspaceId: workspace.id },
    targetId: page.id,
    details: { name, campaignCode: options.campaign ?? '' },
  });
  const destination = page.campaignCode === undefined ? 'no campaign' : `campaign ${page.campaignCode}`;
  printResult(io, options, toJson(page), `Landing page ${name} is mapped to ${destination}.`);
}

async function dismissLandingPage(
  io: CliIo,
  name: string,
  options: WorkspaceOptions,
  isDismissed: boolean,
): Promise<void> {
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const page = await operator.landingPages.dismiss(workspace.id, { name }, isDismissed);
  if (page === undefined) throw new CliError(`Workspace ${workspace.slug} has no landing page ${name}`);
  await operator.recordAction({
    action: isDismissed ? 'landing_page.dismissed' : 'landing_page.restored',
    scope: { workspaceId: workspace.id },
    targetId: page.id,
    details: { name },
  });
  printResult(
    io,
    options,
    toJson(page),
    `Landing page ${name} ${isDismissed ? 'is dismissed' : 'waits for approval'}.`,
  );
}

async function findCampaignIdToMap(
  { campaigns }: Operator,
  workspace: Workspace,
  code: string | undefined,
): Promise<string | undefined> {
  try {
    return await findCampaignToMap(campaigns, workspace.id, code);
  } catch (error) {
    if (!(error instanceof LeadsError) || error.code !== 'campaign_unavailable') throw error;
    throw new CliError(`Workspace ${workspace.slug} has no campaign ${code} that is active or paused`);
  }
}

function toJson({ id, name, campaignCode, createdAt }: LandingPage) {
  return { id, name, campaignCode, createdAt };
}
