import { type FoundLead, toLead } from '../lead/lead.ts';
import type { Lead } from '../lead/lead.schema.ts';
import type { LeadEnd, LeadPage } from '../lead/lead-store.ts';
import { Prisma } from './generated/client.ts';

/** Separates the fields of {@link listedWith}: the control character US. */
const separator = 0x1f;
/** A field that is null: the control character RS. */
const nullMark = 0x1e;

interface ListedField {
  readonly name: keyof Lead;
  /** The SQL expression. Default: the column of the same name. */
  readonly column?: string;
  readonly isNullable?: boolean;
  /** Default: `plain`, which has no characters that JSON escapes. */
  readonly kind?: 'text' | 'time';
}

/** The fields of a listed lead, in the order of the schema `Lead`. */
const fields: readonly ListedField[] = [
  { name: 'id' },
  { name: 'name', kind: 'text' },
  { name: 'phone', kind: 'text' },
  { name: 'createdAt', column: 'created_at', kind: 'time' },
  { name: 'updatedAt', column: 'updated_at', kind: 'time' },
  { name: 'campaignId', column: 'campaign_id' },
  { name: 'userId', column: 'user_id' },
  { name: 'ip', column: 'host(ip)', isNullable: true },
  { name: 'address', kind: 'text', isNullable: true },
  { name: 'state', kind: 'text', isNullable: true },
  { name: 'region', kind: 'text', isNullable: true },
  { name: 'country', kind: 'text', isNullable: true },
  { name: 'status' },
];

const expressions = fields.map(({ name, column = name, isNullable }) =>
  isNullable === true ? `coalesce(${column}, E'\\x1e')` : column,
);
const nullable = fields.filter(({ isNullable }) => isNullable).map(({ name, column = name }) => column);

/**
 * A listed lead as one text of separated fields, because node-postgres takes longer to read a value than this module to
 * split one. The last field is the number of nulls.
 */
const listedColumns = Prisma.raw(
  `concat_ws(E'\\x1f', ${expressions.join(', ')}, num_nulls(${nullable.join(', ')})) AS listed`,
);

/** The bytes of texts in a page after which it has no further lead. A page has at least one lead. */
const maxPageBytes = 2 * 1024 * 1024;

/** Returns the columns of a statement that lists leads, with the value of the order if it has one. */
export function listedWith(value: Prisma.Sql | undefined): Prisma.Sql {
  return value === undefined ? listedColumns : Prisma.sql`${listedColumns}, ${value}`;
}

/**
 * Returns the statements that read a page of {@link listedWith} in bounded memory. The first one has null instead of each
 * text that is longer than the page's average. If it has a null, the caller runs the second, which has null instead of
 * each text beyond {@link maxPageBytes}. The second takes up to a third longer, and few leads are so long.
 *
 * Both rely on the order of a subquery, which Postgres keeps.
 */
export function boundedStatements(
  statement: Prisma.Sql,
  limit: number,
  hasValue: boolean,
): readonly [short: Prisma.Sql, bounded: Prisma.Sql] {
  const select = (condition: Prisma.Sql) => Prisma.sql`
    SELECT CASE WHEN ${condition} THEN listed END${hasValue ? Prisma.sql`, value` : Prisma.empty}
    FROM (${statement}) AS page`;
  return [
    select(Prisma.sql`octet_length(listed) <= ${Math.floor(maxPageBytes / limit)}`),
    select(
      Prisma.sql`sum(octet_length(listed)) OVER (ROWS UNBOUNDED PRECEDING) - octet_length(listed) < ${maxPageBytes}`,
    ),
  ];
}

/** The fields with the bytes before their values. Each value is a string. */
const written = fields.map(({ name, kind, isNullable = false }, at) => ({
  kind,
  isNullable,
  before: Buffer.from(`${at === 0 ? '{' : '",'}"${name}":"`),
}));
const afterLast = Buffer.from('"}');
const digits = Buffer.from('0123456789abcdef');
const unicodeEscape = Buffer.from('\\u00');
const decimals = Buffer.from('.000');

/** The most bytes for a character of a text: `\u001f`. */
const maxBytesOfCharacter = 6;
const maxBytesOfNames = 2 * Buffer.concat(written.map(({ before }) => before)).length;

const usualBytes = 128 * 1024;
/** A buffer that a page has enlarged beyond this size is not kept. */
const maxKeptBytes = 1024 * 1024;

/** Reused for every page, because its bytes are copied. */
let buffer = Buffer.allocUnsafe(usualBytes);

/** A page, or the ids of leads that must be read with their columns one by one. */
type WrittenPage = { readonly page: LeadPage } | { readonly unclearIds: readonly string[] };

/**
 * Writes texts of {@link listedWith} as the JSON of the schema `Lead`, byte by byte. It takes half the time of texts
 * that are split and joined, and a tenth of their memory. The memory matters most: objects of requests that wait for
 * each other outlive a garbage collection, and so does everything that they refer to.
 *
 * @param found leads by id that were read with their columns one by one.
 * @returns ids if a field contains a separator or is equal to the mark of a null, and the lead is not in `found`.
 */
export function writePage(
  texts: readonly string[],
  hasMore: boolean,
  found?: ReadonlyMap<string, FoundLead>,
): WrittenPage {
  try {
    return writeLeads(texts, hasMore, found);
  } finally {
    if (buffer.length > maxKeptBytes) buffer = Buffer.allocUnsafe(usualBytes);
  }
}

function writeLeads(
  texts: readonly string[],
  hasMore: boolean,
  found: ReadonlyMap<string, FoundLead> | undefined,
): WrittenPage {
  const unclearIds: string[] = [];
  const starts: number[] = [];
  let at = 0;
  buffer[at++] = 0x5b;
  for (const text of texts) {
    reserve(at, maxBytesOfNames + text.length * maxBytesOfCharacter);
    const start = starts.length === 0 ? at : at + 1;
    buffer[start - 1] = starts.length === 0 ? 0x5b : 0x2c;
    const end = writeLead(text, start);
    if (end === undefined) {
      const id = text.slice(0, text.indexOf('\u001f'));
      const lead = found?.get(id);
      if (found === undefined) unclearIds.push(id);
      // A lead that was deleted meanwhile is omitted.
      if (lead === undefined) continue;
      const json = JSON.stringify(toLead(lead));
      reserve(start, json.length * maxBytesOfCharacter);
      at = start + buffer.write(json, start);
    } else at = end;
    starts.push(start);
  }
  if (unclearIds.length > 0) return { unclearIds };
  const [first, last] = [starts[0], starts.at(-1)];
  const ends =
    first === undefined || last === undefined
      ? undefined
      : ([endAt(first, (starts[1] ?? at + 1) - 1), endAt(last, at)] as const);
  buffer[at++] = 0x5d;
  return { page: { json: Buffer.from(buffer.subarray(0, at)), ends, hasMore } };
}

/** Makes room for a number of bytes. */
function reserve(at: number, bytes: number): void {
  if (at + bytes + 2 <= buffer.length) return;
  buffer = Buffer.concat([buffer.subarray(0, at)], 2 * (at + bytes + 2));
}

function endAt(start: number, end: number): LeadEnd {
  const { id, createdAt, updatedAt } = JSON.parse(buffer.toString('utf8', start, end)) as Lead;
  return { id, createdAt, updatedAt };
}

/** Writes a lead to the buffer. @returns the end of its bytes, or undefined if its fields are unclear. */
function writeLead(text: string, start: number): number | undefined {
  const bytes = buffer;
  let at = start;
  let from = 0;
  let nulls = 0;
  for (const { kind, isNullable, before } of written) {
    if (isNullable && text.charCodeAt(from) === nullMark && text.charCodeAt(from + 1) === separator) {
      nulls += 1;
      from += 2;
      continue;
    }
    for (let i = 0; i < before.length; i++) bytes[at++] = before[i] as number;
    const valueAt = at;
    for (; from < text.length; from++) {
      const code = text.charCodeAt(from);
      if (code === separator) break;
      if (code >= 0x20 && code < 0x80 && code !== 0x22 && code !== 0x5c) bytes[at++] = code;
      else if (code === 0x22 || code === 0x5c) {
        bytes[at++] = 0x5c;
        bytes[at++] = code;
      } else if (code < 0x20) {
        for (const byte of unicodeEscape) bytes[at++] = byte;
        bytes[at++] = digits[code >> 4] as number;
        bytes[at++] = digits[code & 15] as number;
      } else {
        // UTF-8 by Node: the rest of the character's word is as rare as itself.
        const isPair = code >= 0xd800 && code < 0xdc00;
        at += bytes.write(text.slice(from, from + (isPair ? 2 : 1)), at);
        if (isPair) from += 1;
      }
    }
    from += 1;
    if (kind === 'time') at = endTime(valueAt, at);
  }
  for (const byte of afterLast) bytes[at++] = byte;
  return from === text.length - 1 && text.charCodeAt(from) === digits[nulls] ? at : undefined;
}

/**
 * Converts a written time, in UTC and in the format of Postgres with up to 3 decimals of a second, to ISO 8601:
 * `2026-01-31 09:30:00.5+00` to `2026-01-31T09:30:00.500Z`.
 */
function endTime(start: number, end: number): number {
  buffer[start + '2026-01-31'.length] = 0x54;
  const secondsEnd = start + '2026-01-31T09:30:00'.length;
  for (let at = end - '+00'.length; at < secondsEnd + decimals.length; at++) {
    buffer[at] = decimals[at - secondsEnd] as number;
  }
  buffer[secondsEnd + decimals.length] = 0x5a;
  return secondsEnd + decimals.length + 1;
}
