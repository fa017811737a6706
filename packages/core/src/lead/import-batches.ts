import type { CsvFault, CsvRecord } from '../csv/csv-reader.ts';
import { readCsv } from '../csv/read-csv.ts';
import { LeadsError } from '../errors.ts';
import { batchLimits, type ImportRejection } from './import-row.ts';

/** The counts that the report of every import has. */
interface ImportCounts {
  /** Records that were not applied because of an error. */
  rejected: number;
  /** The names of the skipped columns, as in the file. */
  ignoredColumns: string[];
}

/** The options of every import. */
export interface ImportOptions<Report> {
  /** Makes repeating the import safe: each line of the file is applied once. */
  readonly idempotencyKey?: string | undefined;
  /** Called for each rejected record, in the order of the lines. */
  readonly onRejection?: (rejection: ImportRejection) => void;
  /** Called after each batch. */
  readonly onProgress?: (soFar: Readonly<Report>) => void;
  /** Stops the import before the next batch and throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Counts a record as rejected. */
export type Reject = (rejection: ImportRejection) => void;

/** The parts in which imports differ. */
interface ImportWork<Columns, Line> {
  /** @throws LeadsError `invalid_input` for an invalid header. */
  readonly readHeader: (entry: CsvRecord | CsvFault) => { columns: Columns; ignored: string[] };
  /** Returns the content of a record, a rejection, or nothing for a record without values. */
  readonly readLine: (
    columns: Columns,
    entry: CsvRecord | CsvFault,
  ) => Line | { readonly rejection: ImportRejection } | undefined;
  /** Applies the lines of a batch, and adds the results to the report. */
  readonly apply: (lines: readonly Line[], reject: Reject) => Promise<void>;
}

/**
 * Reads a CSV file and applies its lines in batches and in bounded memory. A batch that is applied stays applied if the
 * import fails later.
 *
 * @param file the bytes of the file, in pieces of any size.
 * @param report the report, which changes with each batch.
 * @returns the report.
 * @throws LeadsError `invalid_input` for an empty file or an invalid header; the errors of `apply`; the reason of
 *   `options.signal`.
 */
export async function importBatches<
  Report extends ImportCounts,
  Columns,
  Line extends { readonly size: number },
>(
  file: AsyncIterable<Uint8Array>,
  report: Report,
  { readHeader, readLine, apply }: ImportWork<Columns, Line>,
  { onRejection, onProgress, signal }: ImportOptions<Report>,
): Promise<Report> {
  let rejections: ImportRejection[] = [];
  const reject: Reject = (rejection) => {
    report.rejected += 1;
    rejections.push(rejection);
  };
  let lines: Line[] = [];
  let size = 0;
  const flush = async () => {
    signal?.throwIfAborted();
    await apply(lines, reject);
    lines = [];
    size = 0;
    for (const rejection of rejections.toSorted((a, b) => a.line - b.line)) onRejection?.(rejection);
    rejections = [];
    onProgress?.(report);
    signal?.throwIfAborted();
  };

  let columns: Columns | undefined;
  for await (const entry of readCsv(file)) {
    if (columns === undefined) {
      const header = readHeader(entry);
      columns = header.columns;
      report.ignoredColumns = header.ignored;
      continue;
    }
    const line = readLine(columns, entry);
    if (line === undefined) continue;
    if ('rejection' in line) reject(line.rejection);
    else {
      lines.push(line);
      size += line.size;
    }
    // Rejected lines count, too: an import with only rejected lines must also report its progress and observe its signal.
    if (lines.length + rejections.length >= batchLimits.lines || size >= batchLimits.characters)
      await flush();
  }
  if (columns === undefined) {
    throw new LeadsError('invalid_input', { fields: [{ at: 'body', reason: 'The file is empty' }] });
  }
  await flush();
  return report;
}
