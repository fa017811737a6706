import { expect, test } from 'vitest';
import { formatDay, formatTime, relativeTime } from './time.ts';

test.each([
  ['exact', '24 Nov 2026, 02:48:51'],
  ['date', '24 Nov 2026'],
  ['day', '24 Nov'],
  ['dayAndTime', '24 Nov, 02:48'],
  ['timeOfDay', '02:48'],
  ['month', 'Nov 2026'],
] as const)('the form %s of a time is %s', (form, shown) => {
  expect(formatTime('2026-11-24T01:48:51Z', form, 'Europe/Berlin')).toBe(shown);
});

test('a calendar day is the same in every time zone', () => {
  expect(formatDay('2026-11-24')).toBe('24 Nov 2026');
});

test.each([
  ['2026-11-26T23:30:00Z', '1 day ago'],
  ['2026-11-27T23:00:00Z', '11 hours ago'],
  ['2026-11-29T20:00:00Z', 'in 1 day'],
  ['2026-09-20T10:00:00Z', '2 months ago'],
  ['2026-10-20T10:00:00Z', '1 month ago'],
  ['2025-10-20T10:00:00Z', '1 year ago'],
  ['2026-11-28T10:00:05Z', 'just now'],
])(
  '%s is described by its distance, and not by a calendar day that depends on the time zone',
  (at, shown) => {
    expect(relativeTime(at, Date.parse('2026-11-28T10:00:00Z'))).toBe(shown);
  },
);
