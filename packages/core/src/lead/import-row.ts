import { fromCell } from '../csv/csv-cell.ts';
import type { CsvFault, CsvRecord } from '../csv/csv-reader.ts';
import { LeadsError, type LeadsFault } from '../errors.ts';
import type { ImportOptions, ImportRejection } from './import-leads.ts';
import { NewLead } from './lead.schema.ts';

/** Where the cells of a column go. */
export type ImportColumn =
  | { readonly to: 'field'; readonly name: string }
  /** A member of `extra`. */
  | { readonly to: 'member'; readonly name: string }
  /** `extra` as a whole, as an export has it. */
  | { readonly to: 'extra'; readonly name: string }
  | { readonly to: 'nothing'; readonly name: string }
  /** It has no name, so it can hold nothing. */
  | { readonly to: 'unnamed'; readonly name: string };

/** What the service decides itself of a lead, by the names that an export has for it. */
const decided = [
  'id',
  'createdAt',
  'updatedAt',
  'campaignId',
  'userId',
  'ip',
  'status',
  'version',
  'source',
  'phoneE164',
  'duplicateOf',
] as const;

/** A name without what people spell differently: `Campaign Code`, `campaign_code` and `campaign-code` are one. */
const fold = (name: string) => name.toLowerCase().replaceAll(/[\s_-]+/g, '');

const fieldOf = new Map(Object.keys(NewLead.properties).map((name) => [fold(name), name]));
const ignored = new Set(decided.map(fold));

/**
 * What the columns of a file are for, told by its first record.
 *
 * @param isPlaced whether the leads have a campaign without a column for it.
 * @throws LeadsError `invalid_input` that names every fault.
 */
export function readHeader(
  entry: CsvRecord | CsvFault,
  isPlaced: boolean,
): { columns: ImportColumn[]; ignored: string[] } {
  if ('fault' in entry) throw refused([`The header ${entry.fault}`]);
  const columns = entry.cells.map((cell) => columnOf(fromCell(cell).trim()));

  const faults: string[] = [];
  const places = columns.filter(({ to }) => to !== 'unnamed').map(({ to, name }) => `${to} ${name}`);
  const twice = new Set(places.filter((place, i) => places.indexOf(place) !== i));
  const fields = [...twice].filter((place) => !place.startsWith('member '));
  for (const place of fields) faults.push(`The header has ${place.slice(place.indexOf(' ') + 1)} twice`);
  // A name of the caller's own is not repeated.
  if (twice.size > fields.length) faults.push('The header has a name twice');
  const has = (field: string) => columns.some(({ to, name }) => to === 'field' && name === field);
  for (const field of ['name', 'phone']) if (!has(field)) faults.push(`The header has no column ${field}`);
  if (!isPlaced && !has('campaignCode')) {
    faults.push('The header has no column campaignCode, and there is no parameter campaignCode');
  }
  if (faults.length > 0) throw refused(faults);
  const passedOver = entry.cells.filter((_, i) => columns[i]?.to === 'nothing').map((cell) => cell.trim());
  return { columns, ignored: passedOver };
}

function columnOf(name: string): ImportColumn {
  const folded = fold(name);
  if (name === '') return { to: 'unnamed', name };
  const field = fieldOf.get(folded);
  if (field !== undefined) return { to: 'field', name: field };
  if (folded === 'extra') return { to: 'extra', name: 'extra' };
  return ignored.has(folded) ? { to: 'nothing', name: folded } : { to: 'member', name };
}

function refused(reasons: readonly string[]): LeadsError {
  return new LeadsError('invalid_input', { fields: reasons.map((reason) => ({ at: 'body', reason })) });
}

/** What a record is: a lead but for its campaign, with its size in characters; a rejection; nothing at all. */
export function readRow(
  columns: readonly ImportColumn[],
  entry: CsvRecord | CsvFault,
  { campaignCode, validate }: Pick<ImportOptions, 'campaignCode' | 'validate'>,
): { body: NewLead; extra: object; size: number } | { rejection: ImportRejection } | undefined {
  const { line } = entry;
  if ('fault' in entry) return { rejection: { line, reason: `The line ${entry.fault}` } };
  const { cells } = entry;
  // Spreadsheets write such records for rows that were emptied.
  if (cells.every((cell) => cell === '')) return undefined;
  if (cells.length !== columns.length) {
    const reason = `The line has ${cells.length} cells where the header has ${columns.length}`;
    return { rejection: { line, reason } };
  }

  const fields: [string, string][] = [];
  const members: [string, unknown][] = [];
  let size = 0;
  for (const [i, column] of columns.entries()) {
    const text = fromCell(cells[i] ?? '');
    if (text === '' || column.to === 'nothing') continue;
    size += text.length;
    switch (column.to) {
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
  const body = Object.fromEntries(fields);
  if (campaignCode !== undefined) body['campaignCode'] ??= campaignCode;
  const faults = validate(body);
  if (faults.length > 0) return { rejection: { line, ...describe(faults) } };
  return { body: body as NewLead, extra: Object.fromEntries(members), size };
}

function describe(faults: readonly LeadsFault[]): { field?: string; reason: string } {
  const told = faults.map(({ path = '', reason }) => ({ field: path.slice(1), reason }));
  const reason = told.map((fault) => `${fault.field} ${fault.reason}`.trim()).join('; ');
  const field = told[0]?.field ?? '';
  return { ...(field !== '' && { field }), reason };
}

/** In JSON's text of a value: NUL, or half of a surrogate pair. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** The object of an `extra` cell, or why it is none. */
function parseExtra(text: string): object | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'extra must be a JSON object';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'extra must be a JSON object';
  }
  // Written out by the engine only where there is an escape: the text may be nested as deep as it is long.
  if (!text.includes('\\u')) return value;
  try {
    return unstorable.test(JSON.stringify(value)) ? 'extra holds characters that cannot be stored' : value;
  } catch {
    return 'extra is nested too deep';
  }
}
