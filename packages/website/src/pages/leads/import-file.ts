import Papa from 'papaparse';

/* What is read of a file to be imported: its head and, of lines that were rejected, these. Never all of it at once. */

/** The fields that a column can go to. */
export const importFields = [
  'name',
  'phone',
  'campaignCode',
  'email',
  'address',
  'street',
  'city',
  'zipcode',
  'region',
  'country',
  'website',
  'description',
] as const;
type ImportField = (typeof importFields)[number];

/** Where a column goes: to a field, into the lead's extra data, or nowhere. */
export type ColumnTarget = ImportField | 'extra' | 'nothing';

export interface ImportFile {
  readonly file: File;
  readonly delimiter: string;
  readonly columns: readonly string[];
  /** The first records behind the header. */
  readonly sample: readonly { readonly number: number; readonly cells: readonly string[] }[];
  /** The header as it stands in the file. */
  readonly header: string;
  /** The byte that the first record begins at. */
  readonly bodyAt: number;
  /** How many lines stand before the first record. */
  readonly headerLines: number;
}

const headBytes = 256 * 1024;
const sampleRecords = 3;
const delimiters = [',', ';', '\t'] as const;

/** @returns the file's head; `undefined` where it is not UTF-8 or has no header line. */
export async function readHead(file: File): Promise<ImportFile | 'not UTF-8' | 'empty'> {
  const bytes = await file.slice(0, headBytes).arrayBuffer();
  let text: string;
  try {
    // The last character may be cut in two.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return 'not UTF-8';
  }
  if (text.includes('\0')) return 'not UTF-8';
  const headerAt = /^\uFEFF?[\r\n]*/.exec(text)?.[0].length ?? 0;
  const bodyAt = endOfRecord(text, headerAt);
  const header = text.slice(headerAt, bodyAt).trimEnd();
  if (header === '') return 'empty';
  const delimiter = delimiterOf(header);
  const parse = (part: string, preview: number) =>
    Papa.parse<string[]>(part, { delimiter, preview, skipEmptyLines: true }).data;
  return {
    file,
    delimiter,
    columns: (parse(header, 1)[0] ?? []).map((name) => name.trim()),
    sample: parse(text.slice(bodyAt), sampleRecords).map((cells, number) => ({ number, cells })),
    header,
    bodyAt: new TextEncoder().encode(text.slice(0, bodyAt)).length,
    headerLines: text.slice(0, bodyAt).match(/\r\n|\n|\r/g)?.length ?? 1,
  };
}

/** Where the record behind this one begins. */
function endOfRecord(text: string, from: number): number {
  let isQuoted = false;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (text[i] === '\n') return i + 1;
    if (text[i] === '\r') return text[i + 1] === '\n' ? i + 2 : i + 1;
  }
  return text.length;
}

/** As the service tells it: what the header has most of, outside of quotes. */
function delimiterOf(header: string): string {
  const plain = header.replaceAll(/"[^"]*"/g, '');
  const count = (delimiter: string) => plain.split(delimiter).length;
  return delimiters.toSorted((a, b) => count(b) - count(a))[0] ?? ',';
}

const fold = (name: string) => name.toLowerCase().replaceAll(/[\s_-]+/g, '');

/** How files from elsewhere name what we have. */
const aliases: Readonly<Record<ImportField, readonly string[]>> = {
  name: ['name', 'fullname', 'leadname', 'customer', 'customername', 'client', 'contact'],
  phone: ['phone', 'phonenumber', 'tel', 'telephone', 'mobile', 'mobilephone', 'cell', 'cellphone'],
  campaignCode: ['campaigncode', 'campaign'],
  email: ['email', 'emailaddress', 'mail'],
  address: ['address', 'fulladdress'],
  street: ['street', 'streetaddress'],
  city: ['city', 'town'],
  zipcode: ['zipcode', 'zip', 'postalcode', 'postcode'],
  region: ['region', 'province'],
  country: ['country', 'countrycode'],
  website: ['website', 'url', 'site'],
  description: ['description', 'comment', 'comments', 'note', 'notes', 'message'],
};

/** Columns that the service passes over, since it decides of them itself; so they are what leaves one out. */
const passedOver = [
  'phoneE164',
  'duplicateOf',
  'version',
  'userId',
  'campaignId',
  'updatedAt',
  'createdAt',
  'source',
  'ip',
  'status',
  'id',
] as const;
const isPassedOver = (name: string) => passedOver.some((each) => fold(each) === fold(name));

/** Where the columns go, as far as their names tell. Each field is taken once. */
export function guessTargets(columns: readonly string[]): ColumnTarget[] {
  const taken = new Set<ColumnTarget>();
  return columns.map((column) => {
    const folded = fold(column);
    // The last two are what a file of rejected lines has.
    if (isPassedOver(column) || folded === 'line' || folded === 'reason') return 'nothing';
    const field = importFields.find((each) => aliases[each].includes(folded) && !taken.has(each));
    if (field !== undefined) taken.add(field);
    return field ?? 'extra';
  });
}

/**
 * The header that says where the columns go.
 *
 * @returns `undefined` where more are left out than there are names that the service passes over.
 */
export function headerFor(
  { columns }: Pick<ImportFile, 'columns'>,
  targets: readonly ColumnTarget[],
): readonly string[] | undefined {
  const own = new Set(
    columns.filter((column, i) => targets[i] === 'nothing' && isPassedOver(column)).map(fold),
  );
  const free: string[] = passedOver.filter((name) => !own.has(fold(name)));
  const names = columns.map((column, i) => {
    const target = targets[i] ?? 'extra';
    if (target === 'nothing') return isPassedOver(column) ? column : free.shift();
    if (target !== 'extra') return target;
    if (column === '') return `column ${i + 1}`;
    const isField = importFields.some((field) => fold(field) === fold(column));
    return isField || isPassedOver(column) ? `${column} (file)` : column.replaceAll(/[\r\n]+/g, ' ');
  });
  return names.every((name) => name !== undefined) ? names : undefined;
}

/** The file with another header. Its records stay where they are: on the disk. */
export function withHeader(
  { file, delimiter, bodyAt }: Pick<ImportFile, 'file' | 'delimiter' | 'bodyAt'>,
  names: readonly string[],
): Blob {
  const header = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(delimiter);
  return new Blob([`${header}\r\n`, file.slice(bodyAt)]);
}

const sampledBytes = 64 * 1024;

/** Names a file, so that sending it again adds nothing: by its size, its time, its beginning and its end. */
export async function keyOf(file: File): Promise<string> {
  const ends = new Blob([file.slice(0, sampledBytes), file.slice(-sampledBytes)]);
  // FNV-1a, twice: the browser's own hashes are only there on pages that came by TLS.
  let [a, b] = [0x811c9dc5, 0x01234567];
  for (const byte of new Uint8Array(await ends.arrayBuffer())) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x01000193) + 1;
  }
  const hex = (value: number) => (value >>> 0).toString(16).padStart(8, '0');
  return `file-${file.size}-${file.lastModified}-${hex(a)}${hex(b)}`;
}

const [lineFeed, carriageReturn, quote] = [10, 13, 34] as const;

/** The records that begin in these lines, as they stand in the file. */
async function readRecords(file: File, wanted: ReadonlySet<number>): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  let line = 1;
  let record: { line: number; bytes: number[]; isQuoted: boolean } | undefined;
  let afterReturn = false;
  const begin = () => {
    if (record === undefined && wanted.has(line)) record = { line, bytes: [], isQuoted: false };
  };
  const finish = () => {
    if (record === undefined) return;
    const text = new TextDecoder().decode(new Uint8Array(record.bytes));
    found.set(record.line, text.replace(/[\r\n]+$/, ''));
    record = undefined;
  };
  const endLine = () => {
    line += 1;
    if (record?.isQuoted === false) finish();
    begin();
  };
  begin();
  const reader = file.stream().getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    for (const byte of value) {
      if (afterReturn && byte !== lineFeed) endLine();
      afterReturn = byte === carriageReturn;
      record?.bytes.push(byte);
      if (record !== undefined && byte === quote) record.isQuoted = !record.isQuoted;
      if (byte === lineFeed) endLine();
    }
    if (found.size === wanted.size) {
      await reader.cancel();
      break;
    }
  }
  finish();
  return found;
}

/**
 * The lines that were rejected, with the number and the reason in front: a file that can be mended and imported.
 *
 * @param rejections by the lines of what was sent, of which the header is the first.
 */
export async function rejectedLines(
  { file, delimiter, header, headerLines }: ImportFile,
  rejections: readonly { readonly line: number; readonly reason: string }[],
): Promise<Blob> {
  const told = rejections.map(({ line, reason }) => ({ line: line + headerLines - 1, reason }));
  const records = await readRecords(file, new Set(told.map(({ line }) => line)));
  const lines = told.map(
    ({ line, reason }) =>
      `${line}${delimiter}"${reason.replaceAll('"', '""')}"${delimiter}${records.get(line) ?? ''}`,
  );
  return new Blob(
    [`line${delimiter}reason${delimiter}${header}\r\n`, ...lines.map((line) => `${line}\r\n`)],
    {
      type: 'text/csv',
    },
  );
}
