import { expect, test } from 'vitest';
import { formatDay, formatTime } from './time.ts';

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
