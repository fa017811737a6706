import * as texts from '../../texts/index.ts';

const t = texts.campaigns;
export const daySeconds = 86_400;

/** The duplicate window of a campaign, in words. */
export function writeWindow(seconds = 0): string {
  if (seconds === 0) return t.noDuplicates;
  return t.within(seconds % daySeconds === 0 ? t.days(seconds / daySeconds) : t.seconds(seconds));
}
