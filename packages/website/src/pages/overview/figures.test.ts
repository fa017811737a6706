import type { Overview } from '@leads/core/overview';
import { expect, test } from 'vitest';
import { stepNames } from './figures.ts';

test('the two hours with the same name, at the end of summer time, are distinguished by their distance to UTC', () => {
  const steps = [
    '2026-10-24T23:00:00Z',
    '2026-10-25T00:00:00Z',
    '2026-10-25T01:00:00Z',
    '2026-10-25T02:00:00Z',
  ];
  const overview = { unit: 'hour', steps: steps.map((start) => ({ start })) } as Overview;
  expect(stepNames(overview, 'Europe/Berlin')).toEqual([
    '25 Oct, 01:00',
    '25 Oct, 02:00 GMT+2',
    '25 Oct, 02:00 GMT+1',
    '25 Oct, 03:00',
  ]);
});
