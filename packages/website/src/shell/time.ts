import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import * as texts from '../texts/index.ts';

const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

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

export function exactTime(at: string): string {
  return exact.format(new Date(at));
}
