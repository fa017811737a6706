import { expect, test } from 'vitest';
import { worseRatios } from './baseline.ts';

const of = (ratio: string, found: number, to = 'pgbench') => ({ ratio, to, connections: 64, found });
const baseline = [of('leads/s', 1), of('leads/s', 0.5, 'Fastify'), of('Postgres us/lead', 0.4)];

test('a run passes if no ratio is more than 15 % worse than in the baseline', () => {
  const run = [of('leads/s', 0.86), of('leads/s', 5, 'Fastify'), of('Postgres us/lead', 0.45), of('p99', 9)];
  expect(worseRatios(run, baseline)).toEqual([]);
});

test('rates that fell, times that rose and ratios that are not measured are returned', () => {
  const run = [of('leads/s', 0.84), of('Postgres us/lead', 0.47)];
  expect(worseRatios(run, baseline)).toEqual([
    { ...of('leads/s', 0.84), baseline: 1 },
    { ...of('leads/s', Number.NaN, 'Fastify'), baseline: 0.5 },
    { ...of('Postgres us/lead', 0.47), baseline: 0.4 },
  ]);
});
