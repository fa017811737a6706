import { type QuarantinedLead, type ReplayReport, replayQuarantined } from '@leads/core/lead';
import type { Command } from 'commander';
import { parseDuration, parseUuid } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { exampleId, examples, jsonOption } from '../runtime/help.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, type OutputOptions, printResult } from '../runtime/output.ts';

interface ReplayOptions extends OutputOptions {
  readonly all?: true;
}

interface DeleteOptions extends OutputOptions {
  /** Minimum time in the quarantine, in seconds. */
  readonly olderThan?: number;
  readonly yes?: true;
}

/** The number of leads that one statement reads or deletes. */
const pageSize = 500;

/** Adds `leads quarantine` and its subcommands. */
export function addQuarantineCommands(program: Command, io: CliIo): void {
  const quarantine = program
    .command('quarantine')
    .summary('manage leads that were accepted and cannot be stored')
    .description(
      'Manages quarantined leads. The intake accepted them while Postgres was unavailable. Later, Postgres rejected them, or another lead had the same Idempotency-Key.',
    );

  quarantine
    .command('list')
    .summary('list quarantined leads')
    .description(
      'Lists quarantined leads, oldest first, each with the reason of its rejection: an SQLSTATE, or idempotency_key_reused for a lead with the Idempotency-Key of another lead.',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('leads quarantine list', 'leads quarantine list --json'))
    .action((options) => listQuarantine(io, options));

  quarantine
    .command('replay')
    .summary('store quarantined leads')
    .description('Stores quarantined leads unchanged. A lead that is rejected again stays in the quarantine.')
    .argument('[id...]', 'the ids of the leads', collectUuids)
    .option('--all', 'all quarantined leads')
    .addOption(jsonOption())
    .addHelpText('after', examples('leads quarantine replay --all', `leads quarantine replay ${exampleId}`))
    .action((ids, options, command) => replayQuarantine(io, ids, options, command));

  quarantine
    .command('delete')
    .summary('permanently delete quarantined leads')
    .description(
      'Permanently deletes quarantined leads. The quarantine holds the only copy. Without --yes, the command lists the leads without deleting them.',
    )
    .argument('[id...]', 'the ids of the leads', collectUuids)
    .option(
      '--older-than <duration>',
      'all leads that have been in the quarantine longer than this, such as 90d',
      parseDuration,
    )
    .option('--yes', 'delete the leads')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(`leads quarantine delete ${exampleId} --yes`, 'leads quarantine delete --older-than 90d'),
    )
    .action((ids, options, command) => deleteQuarantined(io, ids, options, command));
}

function collectUuids(id: string, before: readonly string[] = []): string[] {
  return [...before, parseUuid(id)];
}

async function listQuarantine(io: CliIo, options: OutputOptions): Promise<void> {
  await using operator = openOperator(io);
  const entries: QuarantinedLead[] = [];
  for await (const page of readPages(operator)) entries.push(...page);
  const table = formatTable(
    [
      { header: 'NAME', maxWidth: 30, value: ({ lead }) => lead.name },
      { header: 'PHONE', maxWidth: 20, value: ({ lead }) => lead.phone },
      { header: 'CREATED (UTC)', maxWidth: 16, value: ({ lead }) => formatTime(lead.createdAt) },
      { header: 'REASON', maxWidth: 22, value: ({ reason }) => reason ?? '' },
    ],
    entries,
    ({ lead }) => `${lead.id}, campaign ${lead.campaignId}`,
  );
  printResult(io, options, entries.map(toJson), entries.length === 0 ? 'The quarantine is empty.' : table);
}

async function replayQuarantine(
  io: CliIo,
  ids: readonly string[],
  options: ReplayOptions,
  command: Command,
): Promise<void> {
  if ((ids.length === 0) === (options.all === undefined)) {
    command.error('error: set either the ids of the leads or --all');
  }
  await using operator = openOperator(io);
  const reports: ReplayReport[] = [];
  for await (const page of options.all === true
    ? readPages(operator)
    : [await findAll(operator, ids, 'stored')]) {
    reports.push(await replayQuarantined(operator, page));
  }
  const report = {
    stored: reports.flatMap(({ stored }) => stored),
    refused: reports.flatMap(({ refused }) => refused),
  };
  const lines = [
    `Stored: ${report.stored.length}. Rejected again: ${report.refused.length}.`,
    ...report.refused.map(({ id, reason }) => `  ${id}: ${reason ?? 'unknown reason'}`),
  ];
  printResult(io, options, report, lines.join('\n'));
  // The result already lists the leads.
  if (report.refused.length > 0) throw new CliError();
}

async function deleteQuarantined(
  io: CliIo,
  ids: readonly string[],
  options: DeleteOptions,
  command: Command,
): Promise<void> {
  const { olderThan } = options;
  if ((ids.length === 0) === (olderThan === undefined)) {
    command.error('error: set either the ids of the leads or --older-than');
  }
  await using operator = openOperator(io);
  const selected =
    olderThan === undefined
      ? (await findAll(operator, ids, 'deleted')).map(({ lead }) => lead.id)
      : await idsOlderThan(operator, olderThan);
  if (options.yes === undefined && selected.length > 0) {
    throw new CliError(
      `No lead was deleted; use --yes to delete these ${selected.length}: ${selected.join(', ')}`,
    );
  }
  const deleted: string[] = [];
  for (let at = 0; at < selected.length; at += pageSize) {
    deleted.push(...(await operator.quarantine.remove(selected.slice(at, at + pageSize))));
  }
  const lines = [`Deleted: ${deleted.length}.`, ...deleted.map((id) => `  ${id}`)];
  printResult(io, options, { deleted }, lines.join('\n'));
}

async function idsOlderThan(operator: Operator, seconds: number): Promise<string[]> {
  const limit = new Date(Date.now() - seconds * 1000);
  const ids: string[] = [];
  for await (const page of readPages(operator)) {
    ids.push(...page.filter(({ quarantinedAt }) => quarantinedAt < limit).map(({ lead }) => lead.id));
  }
  return ids;
}

/** @throws CliError with the ids that are not in the quarantine. */
async function findAll(
  { quarantine }: Operator,
  ids: readonly string[],
  done: 'stored' | 'deleted',
): Promise<QuarantinedLead[]> {
  const found = await quarantine.find(ids);
  const foundIds = new Set(found.map(({ lead }) => lead.id));
  const missing = ids.filter((id) => !foundIds.has(id));
  if (missing.length > 0)
    throw new CliError(`No lead was ${done}, because these are not in the quarantine: ${missing.join(', ')}`);
  return found;
}

async function* readPages({ quarantine }: Operator): AsyncGenerator<QuarantinedLead[]> {
  let after: QuarantinedLead['lead'] | undefined;
  for (let size = pageSize; size === pageSize; ) {
    const page = await quarantine.list(pageSize, after);
    size = page.length;
    after = page.at(-1)?.lead;
    if (size > 0) yield page;
  }
}

function toJson({ lead, reason, quarantinedAt }: QuarantinedLead) {
  const { contentHash: _contentHash, extra, ...shown } = lead;
  return {
    reason,
    quarantinedAt,
    lead: { ...shown, extra: extra === undefined ? undefined : (JSON.parse(extra) as unknown) },
  };
}
