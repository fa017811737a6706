import { type QuarantinedLead, type ReplayReport, replayQuarantined } from '@leads/core/lead';
import type { Command } from 'commander';
import { parseDuration, parseUuid } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { formatTable, formatTime, type OutputOptions, printResult } from '../runtime/output.ts';

interface ReplayOptions extends OutputOptions {
  readonly all?: true;
}

interface DeleteOptions extends OutputOptions {
  /** In seconds. */
  readonly olderThan?: number;
  readonly yes?: true;
}

/** How many leads one statement reads or deletes. */
const pageSize = 500;

/** `leads quarantine ...` */
export function addQuarantineCommands(program: Command, io: CliIo): void {
  const quarantine = program
    .command('quarantine')
    .summary('leads that Postgres refused')
    .description(
      'Leads that the intake took while Postgres was away, and that Postgres refused when they were to be stored.',
    );

  quarantine
    .command('list')
    .summary('list the leads of the quarantine')
    .description(
      'Lists the leads of the quarantine, oldest first, and the SQLSTATE that each was refused with.',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('leads quarantine list', 'leads quarantine list --json'))
    .action((options) => listQuarantine(io, options));

  quarantine
    .command('replay')
    .summary('store leads of the quarantine')
    .description(
      'Stores leads of the quarantine as they were taken. One that is refused again stays in the quarantine.',
    )
    .argument('[id...]', 'the ids of the leads', collectUuids)
    .option('--all', 'every lead of the quarantine')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads quarantine replay --all',
        'leads quarantine replay 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f',
      ),
    )
    .action((ids, options, command) => replayQuarantine(io, ids, options, command));

  quarantine
    .command('delete')
    .summary('delete leads of the quarantine for good')
    .description(
      'Deletes leads of the quarantine, which are then nowhere. Without --yes it only says which they are.',
    )
    .argument('[id...]', 'the ids of the leads', collectUuids)
    .option(
      '--older-than <duration>',
      'every lead that has been in the quarantine for longer, such as 90d',
      parseDuration,
    )
    .option('--yes', 'delete them')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads quarantine delete 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f --yes',
        'leads quarantine delete --older-than 90d',
      ),
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
      { header: 'TAKEN (UTC)', maxWidth: 16, value: ({ lead }) => formatTime(lead.createdAt) },
      { header: 'SQLSTATE', maxWidth: 8, value: ({ reason }) => reason ?? '' },
    ],
    entries,
    ({ lead }) => `${lead.id}, of campaign ${lead.campaignId}`,
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
    command.error('error: say which leads: their ids or --all');
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
    `Stored: ${report.stored.length}. Refused again: ${report.refused.length}.`,
    ...report.refused.map(({ id, reason }) => `  ${id}, SQLSTATE ${reason ?? 'unknown'}`),
  ];
  printResult(io, options, report, lines.join('\n'));
  // The result has named the leads.
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
    command.error('error: say which leads: their ids or --older-than');
  }
  await using operator = openOperator(io);
  const selected =
    olderThan === undefined
      ? (await findAll(operator, ids, 'deleted')).map(({ lead }) => lead.id)
      : await idsOlderThan(operator, olderThan);
  if (options.yes === undefined && selected.length > 0) {
    throw new CliError(
      `Nothing was deleted. With --yes these ${selected.length} are: ${selected.join(', ')}`,
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

/** @throws CliError that names those that are not there. */
async function findAll(
  { quarantine }: Operator,
  ids: readonly string[],
  done: 'stored' | 'deleted',
): Promise<QuarantinedLead[]> {
  const found = await quarantine.find(ids);
  const foundIds = new Set(found.map(({ lead }) => lead.id));
  const missing = ids.filter((id) => !foundIds.has(id));
  if (missing.length > 0)
    throw new CliError(`Not in the quarantine, none was ${done}: ${missing.join(', ')}`);
  return found;
}

async function* readPages({ quarantine }: Operator): AsyncGenerator<QuarantinedLead[]> {
  let after: string | undefined;
  for (let size = pageSize; size === pageSize; ) {
    const page = await quarantine.list(pageSize, after);
    size = page.length;
    after = page.at(-1)?.lead.id;
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
