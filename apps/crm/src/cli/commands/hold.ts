import { approveAllDue, type HeldLeads, type WaitingLeads } from '@leads/core/lead';
import type { Command } from 'commander';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption, quietOption } from '../runtime/help.ts';
import { openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, type OutputOptions, printResult } from '../runtime/output.ts';
import { formatCount, startProgress } from '../runtime/progress.ts';

interface ListOptions extends OutputOptions {
  readonly held?: true;
}

interface RunOptions extends OutputOptions {
  readonly dryRun?: true;
  readonly quiet?: true;
}

/** Adds `leads hold` and its subcommands. */
export function addHoldCommands(program: Command, io: CliIo): void {
  const hold = program
    .command('hold')
    .summary('manage leads that wait for the end of their hold time')
    .description(
      'Manages leads that become Approved at the end of the hold time of their campaign. Set the hold time with `leads campaign update --approve-after`.',
    );

  hold
    .command('list')
    .summary('list the waiting leads by campaign')
    .description(
      'Lists how many leads of each campaign wait for the end of their hold time, and when the first and the last of them are due. Leads that a person holds do not wait: --held lists them. Requires the role that owns the tables.',
    )
    .option(
      '--held',
      'list the leads that a person holds instead; this reads all leads on hold, which takes seconds with millions of leads',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('leads hold list', 'leads hold list --held'))
    .action((options: ListOptions) => (options.held === true ? listHeld : listWaiting)(io, options));

  hold
    .command('run')
    .summary('approve the leads that are due')
    .description(
      'Approves the leads whose hold time has ended. The CRM service does this every 5 s. The command can be interrupted, and run beside the service: each lead is approved once.',
    )
    .option('--dry-run', 'count the due leads without approving them')
    .addOption(quietOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('leads hold run --dry-run', 'leads hold run'))
    .action((options) => runNow(io, options));
}

async function listWaiting(io: CliIo, options: OutputOptions): Promise<void> {
  await using operator = openOperator(io);
  const waiting = await operator.holdTimers.listWaiting();
  const table = formatTable<WaitingLeads>(
    [
      { header: 'WORKSPACE', maxWidth: 24, value: ({ workspace }) => workspace },
      { header: 'CAMPAIGN', maxWidth: 24, value: ({ campaignCode }) => campaignCode },
      { header: 'WAITING', maxWidth: 11, value: ({ leads }) => formatCount(leads) },
      { header: 'DUE', maxWidth: 11, value: ({ due }) => formatCount(due) },
    ],
    waiting,
    ({ firstAt, lastAt }) => `due from ${formatTime(firstAt)} to ${formatTime(lastAt)}`,
  );
  printResult(
    io,
    options,
    waiting,
    waiting.length === 0 ? 'No leads wait for the end of a hold time.' : table,
  );
}

async function listHeld(io: CliIo, options: ListOptions): Promise<void> {
  await using operator = openOperator(io);
  const held = await operator.holdTimers.listHeld();
  const table = formatTable<HeldLeads>(
    [
      { header: 'WORKSPACE', maxWidth: 24, value: ({ workspace }) => workspace },
      { header: 'CAMPAIGN', maxWidth: 24, value: ({ campaignCode }) => campaignCode },
      { header: 'HELD', maxWidth: 11, value: ({ leads }) => formatCount(leads) },
    ],
    held,
    ({ firstCreatedAt, lastCreatedAt }) =>
      `created from ${formatTime(firstCreatedAt)} to ${formatTime(lastCreatedAt)}`,
  );
  printResult(io, options, held, held.length === 0 ? 'No leads are held by a person.' : table);
}

async function runNow(io: CliIo, options: RunOptions): Promise<void> {
  const { dryRun: isDryRun = false } = options;
  await using operator = openOperator(io);
  if (isDryRun) {
    const waiting = await operator.holdTimers.listWaiting();
    const due = waiting.reduce((sum, campaign) => sum + campaign.due, 0);
    printResult(io, options, { due }, `${formatCount(due)} leads are due.`);
    return;
  }
  const signal = io.interruption();
  let approved = 0;
  using _progress = startProgress(io, {
    isShown: options.quiet !== true,
    position: () => ({ rows: approved }),
  });
  await approveAllDue(operator.holdTimers, (leads) => (approved += leads), signal);
  printResult(io, options, { approved }, `Approved ${formatCount(approved)} leads.`);
  if (signal.aborted) throw signal.reason;
}
