/* Checks of values in the address. The service rejects other values with 400. */

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const timeOfDayPattern = /^T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && uuidPattern.test(value);

/** Returns the first 255 characters of a text. Undefined if the service cannot compare the value with a field. */
export function termOf(value: unknown): string | undefined {
  // The router converts digits, `true` and `false`.
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const text = String(value).slice(0, 255);
  return text === '' || text.includes('\0') ? undefined : text;
}

/** Returns whether a value is a day that exists, such as `2026-01-31`. */
export const isDay = (value: unknown): value is string => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const ms = Date.parse(value);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
};

/** Returns whether a value is a day or a time, such as `2026-01-31T09:30:00Z`. */
export const isTime = (value: string): boolean =>
  isDay(value.slice(0, 10)) &&
  (value.length === 10 || (timeOfDayPattern.test(value.slice(10)) && !Number.isNaN(Date.parse(value))));

/** Returns whether a value is a time zone that the browser knows. */
export function isZone(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 64) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
