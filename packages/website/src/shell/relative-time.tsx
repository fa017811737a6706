import { texts } from '../texts/index.ts';
import { relativeTime, useNow } from './time.ts';

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** A time as people say it, with the exact one to hover; "never" where there is none. */
export function RelativeTime({ at }: { at: string | undefined }) {
  const now = useNow();
  if (at === undefined) return texts.common.never;
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {relativeTime(at, now)}
    </time>
  );
}
