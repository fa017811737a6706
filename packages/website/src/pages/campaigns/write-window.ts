import * as texts from '../../texts/index.ts';

const t = texts.campaigns;
export const daySeconds = 86_400;

/** The units of a duration with their length in seconds, longest first. */
export const durationUnits = [
  ['days', daySeconds],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const;
export type DurationUnit = (typeof durationUnits)[number][0];

/** Returns a duration in the longest unit that it is a whole number of. */
export function splitDuration(seconds: number): readonly [unit: DurationUnit, count: number] {
  const [unit, length] = durationUnits.find(([, each]) => seconds % each === 0) ?? ['seconds', 1];
  return [unit, seconds / length];
}

function writeDuration(seconds: number): string {
  const [unit, count] = splitDuration(seconds);
  return t[unit](count);
}

/** The duplicate window of a campaign, in words. */
export const writeWindow = (seconds = 0) =>
  seconds === 0 ? t.noDuplicates : t.within(writeDuration(seconds));

/** The hold time of a campaign, in words. */
export const writeHoldTime = (seconds = 0) => (seconds === 0 ? t.noHoldTime : writeDuration(seconds));
