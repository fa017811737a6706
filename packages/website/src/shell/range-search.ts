import type { OverviewRange } from '../api/overview.ts';
import { isDay, isZone } from '../parameter-values.ts';

export const presets = ['today', '7d', '30d', '90d', 'this-month', 'last-month', '12m'] as const;
export type Preset = (typeof presets)[number];

/** The range in the address: a preset, or a first and a last day. */
export interface RangeSearch {
  readonly range?: Preset;
  readonly from?: string;
  readonly to?: string;
  /** The first and the last day to compare with. Without them, the range is compared with the days before it. */
  readonly compareFrom?: string;
  readonly compareTo?: string;
  /** The time zone of the days, if it is not the browser's. */
  readonly zone?: string;
}

/** Parses the range from the address and drops unknown values. */
export function readRangeSearch(search: Record<string, unknown>): RangeSearch {
  const { range, from, to, compareFrom, compareTo, zone } = search;
  return {
    ...(isDay(from) && isDay(to) ? { from, to } : isPreset(range) && { range }),
    ...(isDay(compareFrom) && isDay(compareTo) && { compareFrom, compareTo }),
    ...(isZone(zone) && { zone }),
  };
}

const isPreset = (value: unknown): value is Preset => presets.includes(value as Preset);

/** The time zone of the browser. */
function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns the first and the last day of a range, both inclusive. Presets end today at the latest. */
export function daysOf(search: RangeSearch, now = new Date()): OverviewRange {
  const { compareFrom, compareTo } = search;
  return { ...rangeOf(search, now), ...(compareFrom !== undefined && { compareFrom, compareTo }) };
}

function rangeOf(search: RangeSearch, now: Date): OverviewRange {
  const zone = search.zone ?? ownZone();
  if (search.from !== undefined && search.to !== undefined) return { from: search.from, to: search.to, zone };
  const today = todayIn(zone, now);
  const [year, month, day] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
  const since = (first: Date) => ({ from: dayText(first), to: dayText(today), zone });
  switch (search.range ?? '30d') {
    case 'today':
      return since(today);
    case '7d':
      return since(utc(year, month, day - 6));
    case '30d':
      return since(utc(year, month, day - 29));
    case '90d':
      return since(utc(year, month, day - 89));
    case 'this-month':
      return since(utc(year, month, 1));
    case '12m': {
      // One day is added before the year is subtracted. On 29 February, the other order gives 30 February, which is 2 March.
      const tomorrow = utc(year, month, day + 1);
      return since(utc(tomorrow.getUTCFullYear() - 1, tomorrow.getUTCMonth(), tomorrow.getUTCDate()));
    }
    case 'last-month':
      return { from: dayText(utc(year, month - 1, 1)), to: dayText(utc(year, month, 0)), zone };
  }
}

const utc = (year: number, month: number, day: number) => new Date(Date.UTC(year, month, day));
const dayText = (date: Date) => date.toISOString().slice(0, 10);

/** Returns today's date in a time zone. */
function todayIn(zone: string, now: Date): Date {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return utc(parts['year'] ?? 0, (parts['month'] ?? 0) - 1, parts['day'] ?? 0);
}
