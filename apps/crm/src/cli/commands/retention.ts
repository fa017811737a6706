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
import { readSettings, RetentionSettings } from '../runtime/settings.ts';

interface SetOptions extends WorkspaceOptions {
  readonly campaign: string;
  readonly days: number;
}

interface RunOptions extends OutputOptions {
  readonly dryRun?: true;
  readonly max?: number;
  readonly quiet?: true;
}

/** Adds `leads retention` and its subcommands. */
export function addRetentionCommands(program: Command, io: CliIo): void {
  const retention = program
    .command('retention')
    .summary('manage the retention of leads')
    .description(
      'Manages the retention period of the leads of a campaign. Without a retention period, leads are kept indefinitely.',
    );

  retention
    .command('set')
    .summary('set the retention period of a campaign')
    .description(
      'Sets the retention period of the leads of a campaign. `leads retention run` deletes expired leads.',
    )
    .addOption(workspaceOption())
    .requiredOption('--campaign <code>', 'the code of the campaign')
    .requiredOption(
      '--days <number>',
      'days after the creation of a lead; off to keep leads indefinitely',
      parseRetentionDays,
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('leads retention set --workspace acme --campaign SPRING --days 365'))
    .action((options) => setRetention(io, options));

  retention
    .command('run')
    .summary('delete expired leads and expired entries of the audit log')
    .description(
      "Deletes leads older than their campaign's retention period, with their histories, oldest first, 1,000 per transaction. The overview keeps its counts. Also deletes entries of the audit log that are older than AUDIT_RETENTION_DAYS. The command can be interrupted: the next run continues. Run it once a day.",
    )
    .option('--dry-run', 'count the expired leads without deleting them')
    .option('--max <number>', 'delete at most this many leads', parseCount)
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
  await operator.recordAction({
    action: 'campaign.changed',
    scope: { workspaceId: workspace.id },
    targetId: id,
    details: { code, retentionDays: days },
  });
  printResult(
    io,
    options,
    { workspace: workspace.slug, code, retentionDays },
    `Leads of campaign ${code} are kept ${days === 0 ? 'indefinitely' : `for ${formatCount(days)} days`}.`,
  );
}

async function runNow(io: CliIo, options: RunOptions): Promise<void> {
  const { dryRun: isDryRun = false, max: maxLeads = Number.MAX_SAFE_INTEGER } = options;
  await using operator = openOperator(io);
  const { AUDIT_RETENTION_DAYS: auditDays } = readSettings(RetentionSettings, io.env);
  const signal = io.interruption();
  let rows = 0;
  using _progress = startProgress(io, {
    isShown: !isDryRun && options.quiet !== true,
    position: () => ({ rows }),
  });
  const onDeleted = (leads: number) => {
    rows += leads;
  };
  const report = await runRetention(operator.retention, {
    isDryRun,
    auditDays,
    maxLeads,
    signal,
    onDeleted,
  }).catch((error: unknown) => {
    if (!(error instanceof LeadsError) || error.code !== 'conflict') throw error;
    throw new CliError('Another retention run is in progress', { cause: error });
  });
  printResult(io, options, report, describe(report, auditDays, isDryRun));
  if (signal.aborted) throw signal.reason;
}

function describe(
  { campaigns, auditEntries, isComplete }: RetentionReport,
  auditDays: number,
  isDryRun: boolean,
): string {
  const deleted = isDryRun ? '' : ' deleted';
  const audit = `Audit log: ${formatCount(auditEntries)} entries older than ${formatCount(auditDays)} days${deleted}`;
  if (campaigns.length === 0) {
    return `No campaign has a retention period: leads are kept indefinitely.\n${audit}`;
  }
  const lines = campaigns.map(
    ({ workspace, code, retentionDays, leads }) =>
      `${workspace} ${code}: ${formatCount(leads)} leads older than ${formatCount(retentionDays)} days${deleted}`,
  );
  return [...lines, audit, ...(isComplete ? [] : ['More leads may be expired: run the command again.'])].join(
    '\n',
  );
}
