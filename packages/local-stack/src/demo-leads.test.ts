import { expect, test } from 'vitest';
import { demoLeads } from './demo-leads.ts';

const now = new Date('2026-11-21T10:20:00Z');

test('demoLeads() returns the same leads for the same time', () => {
  expect(demoLeads(now)).toEqual(demoLeads(now));
});

test.each(['2026-11-21T00:00:00Z', '2026-11-21T10:20:00Z', '2027-03-01T23:59:59Z'])(
  'demoLeads() at %s returns unique leads of the last 30 days, oldest first',
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

test('demoLeads() creates more leads in the evening than at night', () => {
  const within = (from: number, to: number) =>
    demoLeads(now).filter(({ createdAt }) => createdAt.getUTCHours() >= from && createdAt.getUTCHours() < to)
      .length;
  expect(within(17, 22)).toBeGreaterThan(5 * within(0, 5));
});
