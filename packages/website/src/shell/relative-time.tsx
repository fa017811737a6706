import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import { texts } from '../texts/index.ts';

const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** Units with their length in seconds, longest first. */
const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** "3 minutes ago", "in 2 days". */
export function relativeTime(at: string, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return words.format(Math.round(seconds / length), unit);
}

/** A time as people say it, with the exact one to hover; "never" where there is none. */
export function RelativeTime({ at }: { at: string | undefined }) {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), 10_000, { autoInvoke: true });
  if (at === undefined) return texts.common.never;
  // What came after the last tick is not in the future.
  const reference = Math.max(now, Math.min(new Date(at).getTime(), Date.now()));
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {relativeTime(at, reference)}
    </time>
  );
}
