import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { addAbortSignal } from 'node:stream';
import type { ImportRejection, ImportReport } from '@leads/core/lead';
import type { Command } from 'commander';
import { parseOutputPath, parseText } from '../runtime/arguments.ts';
import { CliError, describeInvalidInput } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import {
  examples,
  jsonOption,
  quietOption,
  type WorkspaceOptions,
  workspaceOption,
} from '../runtime/help.ts';
import { findMembership } from '../runtime/lookups.ts';
import { openOperator } from '../runtime/operator.ts';
import { printNotice, printResult } from '../runtime/output.ts';
import { OutputFile } from '../runtime/output-file.ts';
import { formatCount, startProgress } from '../runtime/progress.ts';

interface ImportCommandOptions extends WorkspaceOptions {
  readonly quiet?: true;
  readonly user: string;
  readonly campaign?: string;
  readonly ignore?: readonly string[];
  readonly idempotencyKey?: string;
  readonly rejected?: string;
}

/** The maximum number of rejections in the output, as JSON and as text. */
const maxListed = { json: 1000, text: 20 } as const;

/** The command-line options of the parameters of an import. */
const optionOfParameter: Readonly<Record<string, string>> = {
  campaignCode: '--campaign',
  ignore: '--ignore',
};

/** Adds `leads import`. */
export function addImportCommand(program: Command, io: CliIo): void {
  program
    .command('import')
    .summary('create leads from a CSV file')
    .description(
      'Creates leads from a CSV file, like POST /api/v1/order/leads/import. A rejected line does not affect other lines. Exits with 1 if any line is rejected.',
    )
    .argument('<file>', 'the file to read; - for standard input')
    .requiredOption('--user <email>', 'the owner of the leads')
    .addOption(workspaceOption('the user is a member of only one'))
    .option('--campaign <code>', 'the campaign of lines without a campaignCode')
    .option(
      '--ignore <column>',
      'a column to ignore, spelled as in the header; can be repeated',
      (column: string, columns: readonly string[] | undefined) => [...(columns ?? []), column],
    )
    .option(
      '--idempotency-key <key>',
      'a key that identifies this file: a second import with the same key stores only missing leads',
      parseText,
    )
    .option(
      '--rejected <file>',
      'write the rejected lines and the reasons to this CSV file; not to standard output',
      parseOutputPath,
    )
    .addOption(quietOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads import leads.csv --user ada@example.com --campaign SPRING',
        'leads import leads.csv --user ada@example.com --idempotency-key leads-2026-01 --rejected rejected.csv',
        'leads export --workspace acme | leads import - --user bob@example.com --workspace beta --campaign SPRING',
      ),
    )
    .action((path, options) => runImport(io, path, options));
}

async function runImport(io: CliIo, path: string, options: ImportCommandOptions): Promise<void> {
  const { importLeads, NewLead } = await import('@leads/core/lead');
  const { createBodyCheck } = await import('@leads/http/server/validation-errors');
  const totalBytes = path === '-' ? undefined : sizeOf(path);
  const signal = io.interruption();
  await using operator = openOperator(io);
  const { user, workspace } = await findMembership(operator.workspaces, options.user, options.workspace);

  using rejectedFile = openRejectedFile(options.rejected);
  const rejections: ImportRejection[] = [];
  let bytes = 0;
  let soFar: Readonly<ImportReport> | undefined;
  const count = () => (soFar === undefined ? 0 : soFar.accepted + soFar.repeated + soFar.rejected);
  const part = () => (totalBytes === undefined ? undefined : bytes / Math.max(totalBytes, 1));
  const source: Readable = addAbortSignal(signal, path === '-' ? io.stdin : createReadStream(path));
  const progress = startProgress(io, {
    isShown: options.json !== true && options.quiet !== true,
    position: () => ({ rows: count(), part: part() }),
  });

  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of source as AsyncIterable<Buffer>) {
      yield piece;
      bytes += piece.length;
    }
  }
  const record = ({ accepted, duplicates, repeated, rejected }: ImportReport, isComplete?: false) =>
    operator.recordAction({
      action: 'leads.imported',
      scope: { workspaceId: workspace.id },
      details: { accepted, duplicates, repeated, rejected, isComplete },
    });
  let report: ImportReport;
  try {
    report = await importLeads(operator, { workspaceId: workspace.id, userId: user.id }, pieces(), {
      campaignCode: options.campaign,
      ignore: options.ignore,
      idempotencyKey: options.idempotencyKey,
      validate: createBodyCheck(NewLead),
      signal,
      onRejection(rejection) {
        rejectedFile?.write(formatRejection(rejection));
        if (rejections.length < maxListed.json) rejections.push(rejection);
      },
      onProgress: (counts) => (soFar = { ...counts }),
    });
  } catch (error) {
    progress[Symbol.dispose]();
    if (soFar !== undefined) await record(soFar, false);
    const stored = `${formatCount(soFar?.accepted ?? 0)} leads were stored`;
    const again =
      options.idempotencyKey === undefined
        ? 'importing the file again would store them twice'
        : 'import the file again with the same key to store the rest';
    if (signal.aborted) throw new CliError(`Interrupted: ${stored}; ${again}`, { cause: error });
    if (soFar !== undefined) printNotice(io, `${stored}; ${again}`);
    throw describeInvalidInput(error, (parameter) => optionOfParameter[parameter] ?? parameter);
  }
  progress[Symbol.dispose]();
  await record(report);

  const truncated = report.rejected > rejections.length;
  printResult(io, options, { ...report, rejections, truncated }, describe(report));
  if (report.rejected === 0) return;
  if (options.json !== true && options.rejected === undefined) {
    for (const { line, reason } of rejections.slice(0, maxListed.text))
      printNotice(io, `line ${line}: ${reason}`);
    const more = report.rejected - maxListed.text;
    if (more > 0)
      printNotice(io, `and ${formatCount(more)} more; use --rejected to write all of them to a file`);
  }
  throw new CliError(
    `${formatCount(report.rejected)} ${report.rejected === 1 ? 'line was' : 'lines were'} rejected`,
  );
}

function describe(report: ImportReport): string {
  const { accepted, duplicates, repeated, rejected, extraLeftOut, ignoredColumns } = report;
  const lines = [
    `Stored ${formatCount(accepted)} leads, ${formatCount(duplicates)} of them as duplicates; ${formatCount(repeated)} already stored; ${formatCount(rejected)} rejected.`,
  ];
  if (ignoredColumns.length > 0) lines.push(`Ignored columns: ${ignoredColumns.join(', ')}.`);
  if (extraLeftOut > 0) lines.push(`Dropped values over the limits of extra: ${formatCount(extraLeftOut)}.`);
  return lines.join('\n');
}

/** @throws CliError if the file cannot be read. */
function sizeOf(path: string): number | undefined {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) throw new CliError(`${path} is a directory`);
    return stats.isFile() ? stats.size : undefined;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Opens the file of `--rejected`. It has a line for each rejection, without values of the imported file. */
function openRejectedFile(path: string | undefined): OutputFile | undefined {
  if (path === undefined) return undefined;
  const file = new OutputFile(path, 'w');
  file.write('line,field,reason\r\n');
  return file;
}

function formatRejection({ line, field = '', reason }: ImportRejection): string {
  return `${line},${field},"${reason.replaceAll('"', '""')}"\r\n`;
}
