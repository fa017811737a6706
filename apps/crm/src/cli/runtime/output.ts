import { CliError } from './cli-error.ts';
import type { CliIo } from './cli-io.ts';

/** The options of every command. */
export interface OutputOptions {
  /** Prints the result as one JSON value, without other text on stdout. */
  readonly json?: true;
}

/** A column of a table. A value longer than `maxWidth` is truncated. */
export interface Column<Row> {
  readonly header: string;
  readonly maxWidth: number;
  readonly value: (row: Row) => string;
}

/** Prints a command's result on stdout: `value` as JSON, or `text` for people. `onWritten` gets the error of stdout. */
export function printResult(
  { stdout }: Pick<CliIo, 'stdout'>,
  options: OutputOptions,
  value: unknown,
  text: string,
  onWritten?: (error?: Error | null) => void,
): void {
  stdout.write(`${options.json === true ? JSON.stringify(value) : text}\n`, onWritten);
}

/**
 * Prints a result with a secret that is not shown again.
 *
 * @param remedy what the operator must do if the secret is lost.
 * @throws CliError with the remedy if stdout cannot be written, also if its reader has closed the pipe.
 */
export function printSecret(
  io: Pick<CliIo, 'stdout'>,
  options: OutputOptions,
  value: unknown,
  { text, remedy }: { readonly text: string; readonly remedy: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    printResult(io, options, value, text, (error) => {
      if (error) reject(new CliError(`The secret is lost: ${remedy}`, { cause: error }));
      else resolve();
    });
  });
}

/** Prints a progress line or an error on stderr. */
export function printNotice({ stderr }: Pick<CliIo, 'stderr'>, line: string): void {
  stderr.write(`${oneLine(line)}\n`);
}

/** Formats rows under a header line. `detail` returns further, indented lines for each row. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  detail: (row: Row) => string | readonly string[],
): string {
  const cells = rows.map((row) => columns.map(({ value, maxWidth }) => cut(oneLine(value(row)), maxWidth)));
  const widths = columns.map(({ header }, i) =>
    Math.max(header.length, ...cells.map((row) => characters(row[i] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - characters(cell).length))
      .join('  ')
      .trimEnd();
  return [
    line(columns.map(({ header }) => header)),
    ...rows.flatMap((row, i) => [
      line(cells[i] ?? []),
      ...[detail(row)].flat().map((each) => `  ${oneLine(each)}`),
    ]),
  ].join('\n');
}

/** Formats a time in UTC, to the minute: `2026-01-31 09:30`. */
export function formatTime(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ');
}

/** Replaces line breaks with spaces, and terminal control characters with question marks. */
function oneLine(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '?')
    .trim();
}

function cut(text: string, maxWidth: number): string {
  const graphemes = characters(text);
  return graphemes.length <= maxWidth ? text : `${graphemes.slice(0, maxWidth - 1).join('')}…`;
}

const segmenter = new Intl.Segmenter();

/** Splits text into graphemes, the characters that a reader sees. */
function characters(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
