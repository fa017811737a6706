import * as texts from '../texts/index.ts';
import { exactTime, relativeTime, useNow } from './time.ts';

/** A relative time with the exact time on hover, or "never" if there is none. */
export function RelativeTime({ at }: { at: string | undefined }) {
  const now = useNow();
  if (at === undefined) return texts.common.never;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  );
}

/** The exact time with the relative time behind it, or "never". Touch screens and keyboards show no title. */
export function ExactTime({ at }: { at: string | undefined }) {
  if (at === undefined) return texts.common.never;
  return (
    <>
      {exactTime(at)} (<RelativeTime at={at} />)
    </>
  );
}
