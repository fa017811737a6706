import { expect, test } from 'vitest';
import { daysOf } from './range-search.ts';

test.each([
  ['2027-02-28', '2026-03-01'],
  ['2028-02-28', '2027-03-01'],
  ['2028-02-29', '2027-03-01'],
  ['2029-02-28', '2028-03-01'],
  ['2026-12-31', '2026-01-01'],
])('the last 12 months until %s begin on %s', (to, from) => {
  expect(daysOf({ range: '12m', zone: 'UTC' }, new Date(`${to}T12:00:00Z`))).toEqual({
    from,
    to,
    zone: 'UTC',
  });
});
