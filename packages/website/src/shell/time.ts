import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import * as texts from '../texts/index.ts';

// Not "yesterday" or "next month": 30 hours ago can be a day earlier.
const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

const day = { day: 'numeric', month: 'short' } as const;
const timeOfDay = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
/** The parts of a time that a page shows. All forms are parts of "24 Nov 2026, 02:48:51 GMT+1". */
const forms = {
  exact: { ...day, year: 'numeric', ...timeOfDay, second: '2-digit' },
  date: { ...day, year: 'numeric' },
  day,
  dayAndTime: { ...day, ...timeOfDay },
  timeWithZone: { ...day, ...timeOfDay, timeZoneName: 'shortOffset' },
  timeOfDay,
  month: { month: 'short', year: 'numeric' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;
export type TimeForm = keyof typeof forms;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Refresh interval of relative times, in milliseconds. */
const tickMs = 10_000;

/** The units with their length in seconds, longest first. */
const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Returns the current time, rounded to 10 s. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), tickMs, { autoInvoke: true });
  return now;
}

/** Returns "3 minutes ago" or "in 2 days". A time within the precision of {@link useNow} is "just now". */
export function relativeTime(at: string, now: number): string {
  const difference = Date.parse(at) - now;
  if (Math.abs(difference) <= tickMs) return texts.common.justNow;
  const seconds = difference / 1000;
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return words.format(Math.round(seconds / length), unit);
}

/**
 * Returns a time in one of the forms.
 *
 * @param at an ISO 8601 time, or a day such as `2026-11-24` with the zone `UTC`.
 * @param timeZone the default is that of the browser.
 */
export function formatTime(at: string, form: TimeForm, timeZone?: string): string {
  const key = `${form} ${timeZone}`;
  const format =
    formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...forms[form], ...(timeZone && { timeZone }) });
  formats.set(key, format);
  return format.format(new Date(at));
}

export const exactTime = (at: string) => formatTime(at, 'exact');

/** Returns a calendar day such as "24 Nov 2026". @param text such as `2026-11-24`. */
export const formatDay = (text: string) => formatTime(text, 'date', 'UTC');

/** Returns a time as the value of a `datetime-local` field, in the time zone of the browser. */
export function toLocal(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The last time that the API takes. In some time zones, the last day of the year 9999 ends in the year 10000. */
const lastTime = Date.UTC(10_000, 0, 1) - 1;

/** Returns a time in UTC as the API takes it. */
export function toIso(time: Date): string {
  return new Date(Math.min(time.getTime(), lastTime)).toISOString();
}
