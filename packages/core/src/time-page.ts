import { LeadsError } from './errors.ts';
import { pageLimit } from './paging.ts';
import { uuidPattern } from './uuid.ts';

/** The position of an entry in a list that is ordered by time, newest first. */
interface TimePosition {
  readonly at: Date;
  readonly id: string;
}

/**
 * Reads one page of a list that is ordered by time, newest first.
 *
 * @param query the parameters of the page, as in `pageParameters`.
 * @param read returns up to `limit` entries after a position, or the first entries.
 * @returns the page, and the cursor of the next page if there is one.
 * @throws LeadsError `invalid_cursor`; the errors of `read`.
 */
export async function readTimePage<Entry>(
  query: { readonly limit?: string | undefined; readonly cursor?: string | undefined },
  read: (limit: number, after: TimePosition | undefined) => Promise<Entry[]>,
  positionOf: (entry: Entry) => TimePosition,
): Promise<{ entries: Entry[]; nextCursor?: string }> {
  const limit = query.limit === undefined ? pageLimit.default : Number(query.limit);
  const found = await read(limit + 1, query.cursor === undefined ? undefined : decodeCursor(query.cursor));
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return {
    entries,
    ...(found.length > limit && last !== undefined && { nextCursor: encodeCursor(positionOf(last)) }),
  };
}

function encodeCursor({ at, id }: TimePosition): string {
  return `${at.getTime()}.${id}`;
}

function decodeCursor(text: string): TimePosition {
  const [timeMs = '', id = '', ...others] = text.split('.');
  if (!/^\d{1,14}$/.test(timeMs) || !uuidPattern.test(id) || others.length > 0) {
    throw new LeadsError('invalid_cursor', {
      fields: [{ at: 'query', path: 'cursor', reason: 'must come from a page of the same list' }],
    });
  }
  return { at: new Date(Number(timeMs)), id };
}
