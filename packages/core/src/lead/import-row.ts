import { fromCell } from '../csv/csv-cell.ts';
import type { CsvFault, CsvRecord } from '../csv/csv-reader.ts';
import { LeadsError, type FieldError } from '../errors.ts';
import { parseJson } from '../json.ts';
import { NewLead } from './lead.schema.ts';
import { foldName, serviceFieldNames } from './lead-fields.ts';

/** The limits of a batch of an import. With more than 500 lines, a batch is no faster and delays other requests for longer. */
export const batchLimits = { lines: 500, characters: 1024 * 1024 } as const;
/** The limit of the values of one lead, in bytes. The body of a single create has the same limit. */
const maxLeadBytes = 64 * 1024;

/** A record that was not stored. */
export interface ImportRejection {
  /** The line in which the record starts, counted from 1. */
  readonly line: number;
  /** The invalid field, if there is one. */
  readonly field?: string;
  /** A human-readable reason for the rejection. It contains no content of the file. */
  readonly reason: string;
}

/** Rules for converting the records of a file to leads. */
export interface ImportRules {
  /** The campaign of records without a campaign code. */
  readonly campaignCode?: string | undefined;
  /** Names of columns to skip, as the header spells them. */
  readonly ignore?: readonly string[] | undefined;
  /** Returns the errors of a body, or an empty list for a valid `NewLead`. */
  readonly validate: (body: unknown) => readonly FieldError[];
}

/** A column of the file, with the destination of its cells. */
export type ImportColumn =
  | { readonly to: 'field'; readonly name: string }
  /** To a member of `extra`. */
  | { readonly to: 'member'; readonly name: string }
  /** To `extra` as a whole: the column of an export. */
  | { readonly to: 'extra'; readonly name: string }
  /** Skipped: the service sets the field itself ({@link serviceFieldNames}). */
  | { readonly to: 'service'; readonly name: string }
  /** Skipped: the caller ignores the column. */
  | { readonly to: 'ignored'; readonly name: string }
  /** Skipped: the column has no name. A value in such a column is an error. */
  | { readonly to: 'unnamed'; readonly name: string };

const fieldOfFolded = new Map(Object.keys(NewLead.properties).map((name) => [foldName(name), name]));
const foldedServiceFields = new Set(serviceFieldNames.map(foldName));

/**
 * Reads the header of a file.
 *
 * @returns the column of each cell, and the names of the skipped columns.
 * @throws LeadsError `invalid_input` that names every error.
 */
export function readHeader(
  entry: CsvRecord | CsvFault,
  { campaignCode, ignore = [] }: Pick<ImportRules, 'campaignCode' | 'ignore'>,
): { columns: ImportColumn[]; ignored: string[] } {
  const faults: FieldError[] = [];
  const addFault = (reason: string) => faults.push({ at: 'body', reason });
  const columns: ImportColumn[] = [];
  const ignored: string[] = [];
  if ('fault' in entry) {
    addFault(`The header ${entry.fault}`);
    throw new LeadsError('invalid_input', { fields: faults });
  }
  const names = entry.cells.map((cell) => fromCell(cell).trim());
  for (const name of names) {
    const column = columnOf(name, ignore);
    columns.push(column);
    if (column.to === 'service' || column.to === 'ignored') ignored.push(name);
  }

  const places = columns
    .filter(({ to }) => to !== 'unnamed' && to !== 'ignored')
    .map(({ to, name }) => `${to} ${name}`);
  const repeated = new Set(places.filter((place, i) => places.indexOf(place) !== i));
  const repeatedFields = [...repeated].filter((place) => !place.startsWith('member '));
  for (const place of repeatedFields) addFault(`The header has ${place.slice(place.indexOf(' ') + 1)} twice`);
  // A message never contains a name that the caller chose.
  if (repeated.size > repeatedFields.length) addFault('The header has a name twice');
  const has = (field: string) => columns.some(({ to, name }) => to === 'field' && name === field);
  for (const field of ['name', 'phone']) if (!has(field)) addFault(`The header has no column ${field}`);
  if (campaignCode === undefined && !has('campaignCode')) {
    const reason = 'is required if the header has no column campaignCode';
    faults.push({ at: 'query', path: 'campaignCode', reason });
  }
  for (const [i, name] of ignore.entries()) {
    if (names.includes(name)) continue;
    const reason = `must name columns as the header of the file spells them: value ${i + 1} is not in the header`;
    faults.push({ at: 'query', path: 'ignore', reason });
  }
  if (faults.length > 0) throw new LeadsError('invalid_input', { fields: faults });
  return { columns, ignored };
}

function columnOf(name: string, ignore: readonly string[]): ImportColumn {
  if (ignore.includes(name)) return { to: 'ignored', name };
  if (name === '') return { to: 'unnamed', name };
  const folded = foldName(name);
  const field = fieldOfFolded.get(folded);
  if (field !== undefined) return { to: 'field', name: field };
  if (folded === 'extra') return { to: 'extra', name: 'extra' };
  return foldedServiceFields.has(folded) ? { to: 'service', name: folded } : { to: 'member', name };
}

/**
 * Returns the cells of a record, one for each column, with the size of the record in characters; a rejection; or nothing
 * for a record without values.
 */
export function readCells(
  columnCount: number,
  entry: CsvRecord | CsvFault,
): { cells: CsvRecord['cells']; size: number } | { rejection: ImportRejection } | undefined {
  const { line } = entry;
  if ('fault' in entry) return { rejection: { line, reason: `The line ${entry.fault}` } };
  const { cells } = entry;
  // Spreadsheets write such records for rows that were emptied.
  if (cells.every((cell) => cell === '')) return undefined;
  if (cells.length === columnCount) {
    // Skipped cells count, too, because the cells of one record share its memory.
    return { cells, size: cells.reduce((sum, cell) => sum + cell.length, 0) };
  }
  const reason = `The line has ${cells.length === 1 ? '1 cell' : `${cells.length} cells`}, but the header has ${columnCount}`;
  return { rejection: { line, reason } };
}

/**
 * Reads a record.
 *
 * @returns a lead without its campaign, with the size of the record in characters; a rejection; or nothing for a
 *   record without values.
 */
export function readRow(
  columns: readonly ImportColumn[],
  entry: CsvRecord | CsvFault,
  { campaignCode, validate }: Pick<ImportRules, 'campaignCode' | 'validate'>,
): { line: number; body: NewLead; extra: object; size: number } | { rejection: ImportRejection } | undefined {
  const { line } = entry;
  const read = readCells(columns.length, entry);
  if (read === undefined || 'rejection' in read) return read;
  const { cells, size } = read;

  const fields: [string, string][] = [];
  const members: [string, unknown][] = [];
  let bytes = 0;
  for (const [i, column] of columns.entries()) {
    const text = fromCell(cells[i] ?? '');
    if (text === '') continue;
    if (column.to !== 'service' && column.to !== 'ignored') bytes += Buffer.byteLength(text);
    switch (column.to) {
      case 'service':
      case 'ignored':
        break;
      case 'field':
        fields.push([column.name, text]);
        break;
      case 'member':
        members.push([column.name, text]);
        break;
      case 'extra': {
        const extra = parseExtra(text);
        if (typeof extra === 'string') return { rejection: { line, field: 'extra', reason: extra } };
        members.push(...Object.entries(extra));
        break;
      }
      case 'unnamed': {
        const reason = `The line has a value in column ${i + 1}, which has no name in the header`;
        return { rejection: { line, reason } };
      }
    }
  }
  if (bytes > maxLeadBytes) {
    return { rejection: { line, reason: 'The line has cells of more than 64 KiB together' } };
  }
  const body = Object.fromEntries(fields);
  if (campaignCode !== undefined) body['campaignCode'] ??= campaignCode;
  const faults = validate(body);
  if (faults.length > 0) return { rejection: { line, ...describeFieldErrors(faults) } };
  return { line, body: body as NewLead, extra: Object.fromEntries(members), size };
}

/** Returns the errors of a line as one reason, and the field of the first. */
export function describeFieldErrors(faults: readonly FieldError[]): { field?: string; reason: string } {
  const named = faults.map(({ path = '', reason }) => ({ field: path.slice(1), reason }));
  const reason = named.map((fault) => `${fault.field} ${fault.reason}`.trim()).join('; ');
  const field = named[0]?.field ?? '';
  return { ...(field !== '' && { field }), reason };
}

/** An escape in JSON text that Postgres cannot store: NUL, or half of a surrogate pair. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Returns the object of an `extra` cell, or the reason why the cell is invalid. */
function parseExtra(text: string): object | string {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return 'extra must be a JSON object';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'extra must be a JSON object';
  }
  // JSON.stringify is recursive and the text may be nested deeply, so it is called only for text with an escape.
  if (!text.includes('\\u')) return value;
  try {
    return unstorable.test(JSON.stringify(value)) ? 'extra contains characters that cannot be stored' : value;
  } catch {
    return 'extra is nested too deep';
  }
}
