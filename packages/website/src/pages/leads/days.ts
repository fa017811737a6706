import { toIso } from '../../shell/time.ts';

/** Returns the day of a time in the user's time zone, as `YYYY-MM-DD`. */
export function toDay(iso: string | undefined, shiftMs = 0): string {
  if (iso === undefined) return '';
  const timeMs = Date.parse(iso);
  if (Number.isNaN(timeMs)) return '';
  const date = new Date(timeMs + shiftMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the start of a day in the user's time zone, or of the day `daysAfter` days later. */
export function startOf(day: string, daysAfter: number): string | undefined {
  const [year, month, date] = day.split('-').map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  return toIso(new Date(year, month - 1, date + daysAfter));
}

/** Whether a time is the start of a day in the user's time zone. */
export const isStartOfDay = (iso: string): boolean => startOf(toDay(iso), 0) === new Date(iso).toISOString();
