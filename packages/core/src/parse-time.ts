import { type FieldError, LeadsError } from './errors.ts';

/** The first and the last time. Postgres cannot read the years 0 and 10000 as they are written. */
const bounds = { first: 0, last: Date.UTC(10_000, 0, 1) - 1 };

/**
 * Returns the time of a text of a request. A time before 1970 or after 9999 becomes the first or the last time of these
 * years, because no record has such a time.
 *
 * @param place where the request has the text.
 * @throws LeadsError `invalid_input` for a text that `Date` cannot represent. The formats of schemas accept some of them,
 *   such as a leap second.
 */
export function parseTime(text: string, place: Pick<FieldError, 'at' | 'path'>): Date {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) {
    const reason = 'must be a valid time such as 2026-01-31T09:30:00+01:00, without a leap second';
    throw new LeadsError('invalid_input', { fields: [{ ...place, reason }] });
  }
  return boundTime(timeMs);
}

/** Returns a time, or the first or the last time of the years 1970 to 9999. @param timeMs in milliseconds since the epoch. */
export function boundTime(timeMs: number): Date {
  return new Date(Math.min(Math.max(bounds.first, timeMs), bounds.last));
}
