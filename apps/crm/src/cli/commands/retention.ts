import { LeadsError } from '@leads/core/errors';
import { type RetentionReport, runRetention } from '@leads/core/retention';
import type { Command } from 'commander';
import { parseCount, parseRetentionDays } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import {
  examples,
  jsonOption,
  quietOption,
  type WorkspaceOptions,
  workspaceOption,
} from '../runtime/help.ts';
import { findCampaign, findWorkspace } from '../runtime/lookups.ts';
import { openOperator } from '../runtime/operator.ts';
import { type OutputOptions, printResult } from '../runtime/output.ts';
import { formatCount, startProgress } from '../runtime/progress.ts';

interface SetOptions extends WorkspaceOptions {
  readonly campaign: string;
  readonly days: number;
}

interface RunOptions extends OutputOptions {
  readonly dryRun?: true;
  readonly max?: number;
  readonly quiet?: true;
}

/** `leads retention ...` */
export function addRetentionCommands(program: Command, io: CliIo): void {
  const retention = program
    .command('retention')
    .summary('how long leads are kept')
    .description(
      'For how long the leads of a campaign are kept. Without a retention they are kept for good.',
    );

  retention
    .command('set')
    .summary('set for how long the leads of a campaign are kept')
    .description('Sets for how long the leads of a campaign are kept. Nothing is deleted by it.')
    .addOption(workspaceOption())
    .requiredOption('--campaign <code>', 'the code of the campaign')
    .requiredOption('--days <number>', 'days after their creation; off to keep them', parseRetentionDays)
    .addOption(jsonOption())
    .addHelpText('after', examples('leads retention set --workspace acme --campaign SPRING --days 365'))
    .action((options) => setRetention(io, options));

  retention
    .command('run')
    .summary('delete the leads that are too old')
    .description(
      'Deletes the leads that are older than their campaigns keep them, with their histories, a thousand in a transaction, oldest first. How many there were stays counted. It may be ended at any time; the next run goes on. Meant to be run once a day.',
    )
    .option('--dry-run', 'print how many there are, and delete nothing')
    .option('--max <number>', 'delete at most this many', parseCount)
    .addOption(quietOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('leads retention run --dry-run', 'leads retention run --max 1000000'))
    .action((options) => runNow(io, options));
}

async function setRetention(io: CliIo, options: SetOptions): Promise<void> {
  const { campaign: code, days } = options;
  await using operator = openOperator(io);
  const workspace = await findWorkspace(operator.workspaces, options.workspace);
  const { id } = await findCampaign(operator.campaigns, workspace, code);
  const retentionDays = days === 0 ? null : days;
  await operator.campaigns.update(workspace.id, id, () => ({ retentionDays }));
  printResult(
    io,
    options,
    { workspace: workspace.slug, code, retentionDays },
    `Leads of campaign ${code} are kept ${days === 0 ? 'for good' : `for ${formatCount(days)} days`}.`,
  );
}

async function runNow(io: CliIo, options: RunOptions): Promise<void> {
  const { dryRun: isDryRun = false, max: maxLeads = Number.MAX_SAFE_INTEGER } = options;
  await using operator = openOperator(io);
  const signal = io.interruption();
  let rows = 0;
  using _progress = startProgress(io, {
    isShown: !isDryRun && options.quiet !== true,
    position: () => ({ rows }),
  });
  const onDeleted = (leads: number) => {
    rows += leads;
  };
  const report = await runRetention(operator.retention, { isDryRun, maxLeads, signal, onDeleted }).catch(
    (error: unknown) => {
      if (!(error instanceof LeadsError) || error.code !== 'conflict') throw error;
      throw new CliError('Another retention run is in progress', { cause: error });
    },
  );
  printResult(io, options, report, describe(report, isDryRun));
  if (signal.aborted) throw signal.reason;
}

function describe({ campaigns, isComplete }: RetentionReport, isDryRun: boolean): string {
  if (campaigns.length === 0) return 'No campaign has a retention: leads are kept for good.';
  const lines = campaigns.map(
    ({ workspace, code, retentionDays, leads }) =>
      `${workspace} ${code}: ${formatCount(leads)} leads older than ${formatCount(retentionDays)} days${isDryRun ? '' : ' deleted'}`,
  );
  return [...lines, ...(isComplete ? [] : ['There may be more: run it again.'])].join('\n');
}
