import { CsvReader, fromCell } from '@leads/core/csv';
import { foldName, leadFields, type NewLeadFieldName, serviceFieldNames } from '@leads/core/lead/fields';
import { UserError } from '../../shell/user-error.ts';
import { imports as t } from '../../texts/imports.ts';
import { contactFields, isNewLeadField } from '../contact-fields.ts';

/* Files to import. They are read in pieces and never held in memory as a whole. */

type ImportField = 'name' | 'phone' | 'campaignCode' | NewLeadFieldName;

/** The fields that a column can be mapped to, in the order of the select. */
export const importFields: readonly ImportField[] = [
  'name',
  'phone',
  'campaignCode',
  ...contactFields.filter(isNewLeadField),
];

/** The target of a column: a field, the lead's extra data, or none. */
export type ColumnTarget = ImportField | 'extra' | 'nothing';

/** The fields of a file of statuses, in the order of the select. */
export const statusFields = ['id', 's1', 'phone', 'campaignCode', 'status', 'reason'] as const;

/** The target of a column of a file of statuses. The service skips columns without a target. */
export type StatusTarget = (typeof statusFields)[number] | 'nothing';

export interface ImportFile {
  readonly file: File;
  readonly separator: string;
  readonly columns: readonly string[];
  /** The first records. */
  readonly sample: readonly { readonly line: number; readonly cells: readonly string[] }[];
  /** The header as it is written in the file. */
  readonly header: string;
  /** The byte at which the first record starts. */
  readonly bodyOffset: number;
  /** The line in which the first record starts. */
  readonly bodyLine: number;
}

const unusable = (reason: string) => new UserError(t.fileUnusable, reason);

const pieceBytes = 64 * 1024;
const headBytes = 4 * pieceBytes;
const sampleRecords = 3;

/**
 * Reads the header and the first records of a file.
 *
 * @throws UserError if the file is not UTF-8, has no header or no further line, or cannot be read.
 */
export async function readHead(file: File): Promise<ImportFile> {
  if (!(await isUtf8(file.slice(0, headBytes)))) throw unusable(t.notUtf8);
  const reader = new CsvReader();
  const head = [];
  for await (const entry of readEntries(file, reader)) {
    head.push(entry);
    if (head.length > sampleRecords) break;
  }
  const [header, ...records] = head;
  if (header === undefined) throw unusable(t.empty);
  if ('fault' in header) throw unusable(t.headerFault(header.fault));
  const columns = header.cells.map((cell) => fromCell(cell).trim());
  if (columns.every((column) => column === '')) throw unusable(t.empty);
  const [first] = records;
  if (first === undefined) throw unusable(t.noRecords);
  return {
    file,
    separator: reader.separator,
    columns,
    sample: records.flatMap((record) => ('cells' in record ? [record] : [])),
    header: await textOf(file.slice(header.offset, first.offset)),
    bodyOffset: first.offset,
    bodyLine: first.line,
  };
}

/**
 * Reads a part of a file.
 *
 * @throws UserError if the browser cannot read the file: it reads only the version that the user has chosen.
 */
async function bytesOf(part: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch {
    throw unusable(t.unreadable);
  }
}

/** Returns whether the start of a file is text in UTF-8. Its last character may be incomplete. */
async function isUtf8(start: Blob): Promise<boolean> {
  const bytes = await bytesOf(start);
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return false;
  }
  return !bytes.includes(0);
}

async function* readEntries(file: File, reader = new CsvReader()) {
  for (let at = 0; at < file.size; at += pieceBytes) {
    yield* reader.read(await bytesOf(file.slice(at, at + pieceBytes)));
  }
  yield* reader.end();
}

/** Returns the text of a record without the line breaks after it. */
async function textOf(record: Blob): Promise<string> {
  return new TextDecoder().decode(await bytesOf(record)).replace(/[\r\n]+$/, '');
}

/** Names of fields in files of other systems, as {@link foldName} writes them. */
type Aliases<Field extends string> = Readonly<Record<Field, { readonly aliases: readonly string[] }>>;

const fields: Aliases<ImportField> = {
  ...leadFields,
  name: { aliases: ['fullname', 'leadname', 'customer', 'customername', 'client', 'contact'] },
  phone: { aliases: ['phonenumber', 'tel', 'telephone', 'mobile', 'mobilephone', 'cell', 'cellphone'] },
  campaignCode: { aliases: ['campaign'] },
};

const fieldsOfStatuses: Aliases<(typeof statusFields)[number]> = {
  id: { aliases: ['leadid', 'orderid'] },
  s1: { aliases: ['subid', 'sub1', 'clickid'] },
  phone: fields.phone,
  campaignCode: fields.campaignCode,
  status: { aliases: ['leadstatus', 'callstatus', 'result', 'outcome', 'disposition'] },
  reason: { aliases: ['comment', 'comments'] },
};

/** The name of the column with the reasons in a file of rejected lines. */
const rejectionName = 'rejection';

/** Columns of an export that the service skips, and columns of a file of rejected lines. */
const skipped = new Set([...serviceFieldNames.map(foldName), 'line', rejectionName]);

/** Returns a target for each column, by its name. Each field is the target of one column at most. */
function guess<Field extends string, Rest extends string>(
  columns: readonly string[],
  names: readonly Field[],
  aliases: Aliases<Field>,
  restOf: (folded: string) => Rest,
): (Field | Rest)[] {
  const used = new Set<Field>();
  return columns.map((column) => {
    const folded = foldName(column);
    const field = names.find(
      (each) => !used.has(each) && (foldName(each) === folded || aliases[each].aliases.includes(folded)),
    );
    if (field !== undefined) used.add(field);
    return field ?? restOf(folded);
  });
}

/** Returns a target for each column of a file of leads. */
export const guessTargets = (columns: readonly string[]): ColumnTarget[] =>
  guess(columns, importFields, fields, (folded) => (skipped.has(folded) ? 'nothing' : 'extra'));

/** Returns a target for each column of a file of statuses. */
export const guessStatusTargets = (columns: readonly string[]): StatusTarget[] =>
  guess(columns, statusFields, fieldsOfStatuses, () => 'nothing');

/** The name of all skipped columns in the sent header. */
const leftOutName = 'left out';

/** Names that do not mean extra data in the sent header. */
const reserved = new Set([...importFields, ...serviceFieldNames, leftOutName].map(foldName));

/**
 * Returns the header that sends each column to its target, and the names in it that the import must ignore.
 */
export function headerFor(
  { columns }: Pick<ImportFile, 'columns'>,
  targets: readonly ColumnTarget[],
): { readonly names: readonly string[]; readonly ignore: readonly string[] } {
  const names = columns.map((column, i) => {
    const target = targets[i] ?? 'extra';
    if (target === 'nothing') return leftOutName;
    if (target !== 'extra') return target;
    if (column === '') return `column ${i + 1}`;
    return reserved.has(foldName(column)) ? `${column} (file)` : column.replaceAll(/[\r\n]+/g, ' ');
  });
  return { names, ignore: targets.includes('nothing') ? [leftOutName] : [] };
}

/** Returns the header that sends each column of a file of statuses to its target. */
export const statusHeaderFor = (targets: readonly StatusTarget[]): readonly string[] =>
  targets.map((target) => (target === 'nothing' ? leftOutName : target));

/** Returns the file with another header, without reading its records. */
export function withHeader(
  { file, separator, bodyOffset }: Pick<ImportFile, 'file' | 'separator' | 'bodyOffset'>,
  names: readonly string[],
): Blob {
  const header = names.map(quoted).join(separator);
  return new Blob([`${header}\r\n`, file.slice(bodyOffset)]);
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

const sampledBytes = 64 * 1024;

/**
 * Returns the idempotency key of a file, so that sending the file again stores nothing twice. The key depends on the
 * size, the modification time, the start and the end of the file.
 */
export async function keyOf(file: File): Promise<string> {
  const ends = new Blob([file.slice(0, sampledBytes), file.slice(-sampledBytes)]);
  // FNV-1a, twice: browsers offer their own hash functions to pages over TLS only.
  let [a, b] = [0x811c9dc5, 0x01234567];
  for (const byte of await bytesOf(ends)) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x01000193) + 1;
  }
  const hex = (value: number) => (value >>> 0).toString(16).padStart(8, '0');
  return `file-${file.size}-${file.lastModified}-${hex(a)}${hex(b)}`;
}

/**
 * Returns the line of the file for a line of the sent body. The sent header has one line, and no empty lines follow
 * it.
 */
export function lineInFile({ bodyLine }: Pick<ImportFile, 'bodyLine'>, line: number): number {
  return line + bodyLine - 2;
}

/** Returns the records that start in these lines, as they are written in the file. */
async function readRecords(file: File, lines: ReadonlySet<number>): Promise<Map<number, string>> {
  const found = new Map<number, Blob>();
  let last: { line: number; offset: number } | undefined;
  const add = (end: number) => {
    if (last !== undefined && lines.has(last.line)) found.set(last.line, file.slice(last.offset, end));
  };
  for await (const entry of readEntries(file)) {
    add(entry.offset);
    last = entry;
    if (found.size === lines.size) break;
  }
  add(file.size);
  const records = Array.from(found, async ([line, record]) => [line, await textOf(record)] as const);
  return new Map(await Promise.all(records));
}

/** Returns the byte order mark of a file; an empty text if it has none. */
async function byteOrderMarkOf(file: File): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const start = decoder.decode(await bytesOf(file.slice(0, 3)));
  return start === '\uFEFF' ? start : '';
}

/**
 * Returns the rejected lines with their number and the reason in front, as a file that can be corrected and imported.
 *
 * @param rejections the rejections, with lines of the sent body.
 */
export async function rejectedLines(
  imported: Pick<ImportFile, 'file' | 'separator' | 'header' | 'bodyLine'>,
  rejections: readonly { readonly line: number; readonly reason: string }[],
): Promise<Blob> {
  const { file, separator, header } = imported;
  const rejected = rejections.map(({ line, reason }) => ({ line: lineInFile(imported, line), reason }));
  const records = await readRecords(file, new Set(rejected.map(({ line }) => line)));
  const lines = [
    ['line', rejectionName, header],
    ...rejected.map(({ line, reason }) => [line, quoted(reason), records.get(line) ?? '']),
  ];
  return new Blob(
    // Without the mark of the file, a spreadsheet would read the letters with accents wrongly.
    [await byteOrderMarkOf(file), ...lines.map((cells) => `${cells.join(separator)}\r\n`)],
    { type: 'text/csv' },
  );
}
