/**
 * Returns the delay of a header `Retry-After` (RFC 9110, 10.2.3) in seconds, 0 or more: a number of seconds, or the time
 * until a date. Returns `undefined` for any other value.
 */
export function retryAfterSecondsOf(value: string | string[] | undefined, now: Date): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  // The preferred form of a date begins with the day of the week. `Date.parse` reads many other texts.
  const timeMs = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : Math.max(0, Math.ceil((timeMs - now.getTime()) / 1000));
}
