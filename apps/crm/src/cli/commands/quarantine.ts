import { type QuarantinedLead, type ReplayReport, replayQuarantined } from '@leads/core/lead';
import type { Command } from 'commander';
import { parseDuration, parseUuid } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import { exitCodes } from '../runtime/exit-codes.ts';
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

/** How many leads are read at a time. */
const batch = 500;

/** `leads quarantine ...` */
export function addQuarantineCommands(program: Command): void {
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
    .action(listQuarantine);

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
    .action(replayQuarantine);

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
    .action(deleteQuarantined);
}

function collectUuids(id: string, before: readonly string[] = []): string[] {
  return [...before, parseUuid(id)];
}

async function listQuarantine(options: OutputOptions): Promise<void> {
  await using operator = openOperator();
  const entries: QuarantinedLead[] = [];
  for await (const piece of piecesOf(operator)) entries.push(...piece);
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
  printResult(options, entries.map(toJson), entries.length === 0 ? 'The quarantine is empty.' : table);
}

async function replayQuarantine(
  ids: readonly string[],
  options: ReplayOptions,
  command: Command,
): Promise<void> {
  if ((ids.length === 0) === (options.all === undefined)) {
    command.error('error: say which leads: their ids or --all');
  }
  await using operator = openOperator();
  const reports: ReplayReport[] = [];
  for await (const piece of options.all === true
    ? piecesOf(operator)
    : [await findAll(operator, ids, 'stored')]) {
    reports.push(await replayQuarantined(operator, piece));
  }
  const report = {
    stored: reports.flatMap(({ stored }) => stored),
    refused: reports.flatMap(({ refused }) => refused),
  };
  const lines = [
    `Stored: ${report.stored.length}. Refused again: ${report.refused.length}.`,
    ...report.refused.map(({ id, reason }) => `  ${id}, SQLSTATE ${reason ?? 'unknown'}`),
  ];
  printResult(options, report, lines.join('\n'));
  if (report.refused.length > 0) process.exitCode = exitCodes.refused;
}

async function deleteQuarantined(
  ids: readonly string[],
  options: DeleteOptions,
  command: Command,
): Promise<void> {
  const { olderThan } = options;
  if ((ids.length === 0) === (olderThan === undefined)) {
    command.error('error: say which leads: their ids or --older-than');
  }
  await using operator = openOperator();
  const meant =
    olderThan === undefined
      ? (await findAll(operator, ids, 'deleted')).map(({ lead }) => lead.id)
      : await idsOlderThan(operator, olderThan);
  if (options.yes === undefined && meant.length > 0) {
    throw new CliError(`Nothing was deleted. With --yes these ${meant.length} are: ${meant.join(', ')}`);
  }
  const deleted: string[] = [];
  for (let at = 0; at < meant.length; at += batch) {
    deleted.push(...(await operator.quarantine.remove(meant.slice(at, at + batch))));
  }
  const lines = [`Deleted: ${deleted.length}.`, ...deleted.map((id) => `  ${id}`)];
  printResult(options, { deleted }, lines.join('\n'));
}

async function idsOlderThan(operator: Operator, seconds: number): Promise<string[]> {
  const limit = new Date(Date.now() - seconds * 1000);
  const ids: string[] = [];
  for await (const piece of piecesOf(operator)) {
    ids.push(...piece.filter(({ quarantinedAt }) => quarantinedAt < limit).map(({ lead }) => lead.id));
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

async function* piecesOf({ quarantine }: Operator): AsyncGenerator<QuarantinedLead[]> {
  let after: string | undefined;
  for (let size = batch; size === batch; ) {
    const piece = await quarantine.list(batch, after);
    size = piece.length;
    after = piece.at(-1)?.lead.id;
    if (size > 0) yield piece;
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
