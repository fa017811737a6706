import type { OverviewUnit } from './overview.schema.ts';

/** A day of the calendar, wherever that is: days since 1970-01-01. */
export type Day = number;

const hourMs = 3_600_000;
const minuteMs = 60_000;
const dayMs = 24 * hourMs;
/** Chains of islands on both sides of the date line are this far from UTC at most, and a little. */
const farthestMs = 16 * hourMs;

/** @param text `2026-01-31`. @returns undefined for a day that there is not. */
export function parseDay(text: string): Day | undefined {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || formatDay(ms / dayMs) !== text ? undefined : ms / dayMs;
}

export function formatDay(day: Day): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The days of a time zone. */
export interface ZoneDays {
  /** The first moment of a day. Of one that the zone has left out, the moment that it went over it. */
  startOf(day: Day): number;
  dayAt(timeMs: number): Day;
}

/** @returns undefined for a time zone that there is not. */
export function daysOf(zone: string): ZoneDays | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      calendar: 'iso8601',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
  } catch {
    return undefined;
  }
  const dayAt = (timeMs: number): Day => {
    const parts = Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, value]));
    return Date.UTC(Number(parts['year']), Number(parts['month']) - 1, Number(parts['day'])) / dayMs;
  };
  return {
    dayAt,
    startOf(day) {
      // By halves: a zone's clock may be set back or forth at midnight, and over whole days.
      let before = day * dayMs - farthestMs;
      let from = day * dayMs + farthestMs;
      while (from - before > minuteMs) {
        const middle = before + Math.floor((from - before) / 2 / minuteMs) * minuteMs;
        if (dayAt(middle) >= day) from = middle;
        else before = middle;
      }
      return from;
    },
  };
}

/** How many steps fit beside each other. */
const maxSteps = 100;

/** The steps that a range of days is shown in, and where each begins; the end of the last comes last. */
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
  // A day that the zone has left out has no time to it.
  return { unit, bounds: [...new Set([...starts, end])] };
}

const isMonday = (day: Day) => new Date(day * dayMs).getUTCDay() === 1;
const monthOf = (day: Day) => {
  const date = new Date(day * dayMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};
const isFirstOf = (months: number) => (day: Day) =>
  new Date(day * dayMs).getUTCDate() === 1 && monthOf(day) % months === 0;
