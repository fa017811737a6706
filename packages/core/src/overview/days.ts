import type { OverviewUnit } from './overview.schema.ts';

/** A calendar day, independent of the time zone, as the number of days since 1970-01-01. */
export type Day = number;

const hourMs = 3_600_000;
const minuteMs = 60_000;
const dayMs = 24 * hourMs;
/** An upper bound of a time zone's offset from UTC. */
const maxOffsetMs = 16 * hourMs;

/** Parses a day such as `2026-01-31`; returns `undefined` for an invalid day. */
export function parseDay(text: string): Day | undefined {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || formatDay(ms / dayMs) !== text ? undefined : ms / dayMs;
}

export function formatDay(day: Day): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The days of a time zone. */
export interface ZoneDays {
  /** Returns the first moment of a day. For a day that the zone skipped, the moment of the skip. */
  startOf(day: Day): number;
  dayAt(timeMs: number): Day;
  /** Divides a time range into periods of one offset from UTC each, oldest first. */
  offsetsWithin(fromMs: number, toMs: number): readonly ZoneOffset[];
}

/** A period in which the clocks of a time zone have the same offset from UTC. */
export interface ZoneOffset {
  readonly fromMs: number;
  readonly minutes: number;
}

/** Returns the days of a time zone; `undefined` for an unknown time zone. */
export function daysOf(zone: string): ZoneDays | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      calendar: 'iso8601',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  } catch {
    return undefined;
  }
  const partsAt = (timeMs: number) =>
    Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]));
  const dayAt = (timeMs: number): Day => {
    const { year = 0, month = 1, day } = partsAt(timeMs);
    return Date.UTC(year, month - 1, day) / dayMs;
  };
  const offsetAt = (timeMs: number): number => {
    const { year = 0, month = 1, day, hour, minute } = partsAt(timeMs);
    return (
      (Date.UTC(year, month - 1, day, hour, minute) - Math.floor(timeMs / minuteMs) * minuteMs) / minuteMs
    );
  };
  return {
    dayAt,
    offsetsWithin(fromMs, toMs) {
      const offsets: ZoneOffset[] = [{ fromMs, minutes: offsetAt(fromMs) }];
      for (let before = fromMs; before < toMs; before += dayMs) {
        const after = Math.min(before + dayMs, toMs);
        const minutes = offsetAt(after);
        if (minutes === offsets.at(-1)?.minutes) continue;
        const first = firstMinute(before, after, (timeMs) => offsetAt(timeMs) === minutes);
        if (first < toMs) offsets.push({ fromMs: first, minutes });
      }
      return offsets;
    },
    startOf: (day) =>
      firstMinute(day * dayMs - maxOffsetMs, day * dayMs + maxOffsetMs, (timeMs) => dayAt(timeMs) >= day),
  };
}

/**
 * Returns the first minute of a range that meets a condition, if all minutes after it do. It searches, because a zone's
 * clock may be changed at any time of a day, or by a whole day.
 */
function firstMinute(beforeMs: number, fromMs: number, isMet: (timeMs: number) => boolean): number {
  let before = beforeMs;
  let from = fromMs;
  while (from - before > minuteMs) {
    const middle = before + Math.floor((from - before) / 2 / minuteMs) * minuteMs;
    if (isMet(middle)) from = middle;
    else before = middle;
  }
  return from;
}

/** The maximum of steps. */
const maxSteps = 100;

/** Divides a range of days into steps. The bounds are the start of each step, and then the end of the last step. */
export function stepsOf(
  days: ZoneDays,
  first: Day,
  last: Day,
): { unit: OverviewUnit; bounds: readonly number[] } {
  const count = last - first + 1;
  const end = days.startOf(last + 1);
  if (count <= 2) {
    const bounds: number[] = [];
    for (let day = first; day <= last; day++) {
      for (let hour = days.startOf(day); hour < days.startOf(day + 1); hour += hourMs) bounds.push(hour);
    }
    return { unit: 'hour', bounds: [...bounds, end] };
  }
  const months = monthOf(last) - monthOf(first) + 1;
  const [unit, begins] =
    count <= maxSteps
      ? (['day', () => true] as const)
      : Math.ceil(count / 7) + 1 <= maxSteps
        ? (['week', isMonday] as const)
        : months <= maxSteps
          ? (['month', isFirstOf(1)] as const)
          : (['quarter', isFirstOf(3)] as const);
  const starts: number[] = [];
  for (let day = first; day <= last; day++) {
    if (day === first || begins(day)) starts.push(days.startOf(day));
  }
  // A day that the zone skipped has no duration, so its bound is a duplicate.
  return { unit, bounds: [...new Set([...starts, end])] };
}

const isMonday = (day: Day) => new Date(day * dayMs).getUTCDay() === 1;
const monthOf = (day: Day) => {
  const date = new Date(day * dayMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};
const isFirstOf = (months: number) => (day: Day) =>
  new Date(day * dayMs).getUTCDate() === 1 && monthOf(day) % months === 0;
