import { texts } from '../texts/index.ts';
import { exactTime, relativeTime, useNow } from './time.ts';

/** A time as people say it, with the exact one to hover; "never" where there is none. */
export function RelativeTime({ at }: { at: string | undefined }) {
  const now = useNow();
  if (at === undefined) return texts.common.never;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  );
}
