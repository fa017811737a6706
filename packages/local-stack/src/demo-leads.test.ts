import { expect, test } from 'vitest';
import { demoLeads } from './demo-leads.ts';

const now = new Date('2026-11-21T10:20:00Z');

test('the demo leads of a moment are always the same', () => {
  expect(demoLeads(now)).toEqual(demoLeads(now));
});

test.each(['2026-11-21T00:00:00Z', '2026-11-21T10:20:00Z', '2027-03-01T23:59:59Z'])(
  'at %s they are of the last thirty days, oldest first, each once',
  (text) => {
    const moment = new Date(text);
    const leads = demoLeads(moment);
    const times = leads.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times.at(-1)).toBeLessThan(moment.getTime());
    expect(times[0]).toBeGreaterThan(moment.getTime() - 30 * 86_400_000);
    expect(new Set(leads.map(({ id }) => id)).size).toBe(leads.length);
    expect(leads.length).toBeGreaterThan(200);
  },
);

test('more of them come in the evening than at night', () => {
  const within = (from: number, to: number) =>
    demoLeads(now).filter(({ createdAt }) => createdAt.getUTCHours() >= from && createdAt.getUTCHours() < to)
      .length;
  expect(within(17, 22)).toBeGreaterThan(5 * within(0, 5));
});
