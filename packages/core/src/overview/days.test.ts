import { expect, test, vi } from 'vitest';
import { daysOf, formatDay, parseDay, stepsOf } from './days.ts';

const day = (text: string) => parseDay(text) ?? Number.NaN;
const zone = (name: string) => daysOf(name) ?? expect.fail(`No time zone ${name}`);
const hoursOf = (name: string, text: string) =>
  (zone(name).startOf(day(text) + 1) - zone(name).startOf(day(text))) / 3_600_000;
const startOf = (name: string, text: string) => new Date(zone(name).startOf(day(text))).toISOString();

test.each([
  ['UTC', '2026-03-29', '2026-03-29T00:00:00.000Z', 24],
  ['Europe/Berlin', '2026-03-28', '2026-03-27T23:00:00.000Z', 24],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
  ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z', 23],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
  ['Asia/Kolkata', '2026-07-01', '2026-06-30T18:30:00.000Z', 24],
  ['Asia/Kathmandu', '2026-07-01', '2026-06-30T18:15:00.000Z', 24],
  // The clock is set forward at midnight, so the day begins at 1:00.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z', 23],
  ['Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00.000Z', 23],
  ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00.000Z', 23.5],
  ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z', 24],
  // Samoa crossed the date line, and skipped 30 December.
  ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00.000Z', 24],
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', 0],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', 24],
])('%s, %s begins at %s and has %d hours', (name, text, start, hours) => {
  expect(startOf(name, text)).toBe(start);
  expect(hoursOf(name, text)).toBe(hours);
});

test('returns the day of a time in its time zone', () => {
  expect(formatDay(zone('Europe/Berlin').dayAt(Date.UTC(2026, 2, 10, 23, 30)))).toBe('2026-03-11');
});

test.each(['2026-02-30', '2026-2-3', '', 'today', '2026-13-01'])('rejects %j as a day', (text) => {
  expect(parseDay(text)).toBe(undefined);
});

test.each(['', 'Nowhere/Land', 'x'.repeat(64), "'; --"])('rejects %j as a time zone', (name) => {
  expect(daysOf(name)).toBe(undefined);
});

test.each([
  ['Europe/Berlin', '2026-03-29', '2026-03-29', 'hour', 23],
  ['Europe/Berlin', '2026-10-25', '2026-10-25', 'hour', 25],
  ['Europe/Berlin', '2026-10-25', '2026-10-26', 'hour', 49],
  ['Australia/Lord_Howe', '2026-10-04', '2026-10-04', 'hour', 24],
  ['America/New_York', '2026-03-01', '2026-03-31', 'day', 31],
  ['Pacific/Apia', '2011-12-01', '2011-12-31', 'day', 30],
  ['UTC', '2026-01-01', '2026-04-10', 'day', 100],
  // The first step begins on a Thursday, the others on Mondays.
  ['UTC', '2026-01-01', '2026-12-31', 'week', 53],
  ['Europe/Berlin', '2024-01-01', '2026-12-31', 'month', 36],
  ['Europe/Berlin', '2016-11-22', '2026-11-21', 'quarter', 41],
])('%s, from %s to %s has the unit %s and %d steps', (name, from, to, unit, count) => {
  const steps = stepsOf(zone(name), day(from), day(to));
  expect([steps.unit, steps.bounds.length - 1]).toEqual([unit, count]);
  expect(new Date(steps.bounds[0] ?? 0).toISOString()).toBe(startOf(name, from));
  expect(steps.bounds.at(-1)).toBe(zone(name).startOf(day(to) + 1));
  expect(steps.bounds.toSorted((one, other) => one - other)).toEqual(steps.bounds);
});

test('a range of ten years needs at most 11 time zone conversions for each step', () => {
  const conversions = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
  try {
    for (const from of ['2016-11-22', '2026-08-14']) {
      const { bounds } = stepsOf(zone('Europe/Berlin'), day(from), day('2026-11-21'));
      // The binary search of 32 hours, to a minute.
      expect(conversions.mock.calls.length).toBeLessThanOrEqual(bounds.length * 11);
      expect(conversions).toHaveBeenCalled();
      conversions.mockClear();
    }
  } finally {
    conversions.mockRestore();
  }
});
