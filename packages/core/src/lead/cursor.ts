import { hash } from 'node:crypto';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { LeadPosition, LeadSelection } from './lead-store.ts';
import { leadStatuses } from './lead-transitions.ts';
import type { SortField } from './sort-fields.ts';

/** The last time that Postgres can read. Later dates are written with a sign and a year of 6 digits. */
const maxTimeMs = Date.UTC(10_000, 0, 1) - 1;

const isUuid = (value: string | undefined) => value !== undefined && uuidPattern.test(value);
const isText = (value: string | undefined) => value !== undefined && !value.includes('\u0000');

/** Returns whether a position in an order can have a value. Postgres rejects values of another type. */
const isValue: Readonly<Record<SortField, (value: string | undefined) => boolean>> = {
  createdAt: (value) => value === undefined,
  updatedAt: (value) => value === undefined,
  callbackAt: (value) => value === undefined,
  status: (value) => leadStatuses.some((status) => status === value),
  source: (value) => value === 'crm' || value === 'intake',
  campaign: isUuid,
  user: isUuid,
  country: isText,
  s1: isText,
  lpName: isText,
  assignee: isUuid,
};

/** A position in a list, and whether the requested page is after it or before it. */
export interface LeadCursor {
  readonly position: LeadPosition;
  readonly toward: 'next' | 'prev';
}

/** Returns a cursor as opaque text, valid for its selection only. It is not secret and gives no access. */
export function encodeCursor({ position, toward }: LeadCursor, selection: LeadSelection): string {
  const { value, time, id } = position;
  const parts = [time.getTime(), id, toward, fingerprint(selection), ...(value === undefined ? [] : [value])];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** @throws LeadsError `invalid_cursor` for a text that {@link encodeCursor} did not return for this selection. */
export function decodeCursor(text: string, selection: LeadSelection): LeadCursor {
  const cursor = parse(text);
  // Encoding the cursor again detects another selection, and characters that the base64 decoder ignores.
  if (
    cursor === undefined ||
    !isValue[selection.order.by](cursor.position.value) ||
    encodeCursor(cursor, selection) !== text
  ) {
    throw new LeadsError('invalid_cursor', {
      fields: [{ at: 'query', path: 'cursor', reason: 'must come from a page of the same list' }],
    });
  }
  return cursor;
}

function parse(text: string): LeadCursor | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [timeMs, id, toward, , value] = parts as unknown[];
  if (typeof timeMs !== 'number' || !Number.isInteger(timeMs) || timeMs < 0 || timeMs > maxTimeMs)
    return undefined;
  if (typeof id !== 'string' || !uuidPattern.test(id)) return undefined;
  if (toward !== 'next' && toward !== 'prev') return undefined;
  if (value !== undefined && typeof value !== 'string') return undefined;
  return { position: { ...(value !== undefined && { value }), time: new Date(timeMs), id }, toward };
}

/** Returns a hash that does not depend on the order of the selection's members. */
function fingerprint({ scope, filter, order }: LeadSelection): string {
  // The parts of a search depend on its text, so the hash does not need it.
  const { text: _text, ...search } = filter.search ?? { text: '' };
  const parts = { ...scope, ...filter, ...order, search: filter.search && search };
  const given = Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify(given), 'base64url').slice(0, 12);
}
