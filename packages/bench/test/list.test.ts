import { expect, test } from 'vitest';
import type { ListFigures } from '../src/list/command.ts';
import { runBench } from './run-bench.ts';

test('bench list measures every step, in the smallest configuration', async () => {
  const sizes = ['--sizes', '10k', '--rate-sizes', '10k', '--export-size', '10k'];
  const { code, stdout, stderr } = await runBench(['list', ...sizes, '--effort', '0.01', '--json']);
  expect(code, stderr).toBe(0);
  const figures = JSON.parse(stdout) as Required<ListFigures>;

  const names = figures.queries.map((row) => row.query).join();
  const filters = [
    'campaignCode',
    'createdFrom',
    'createdTo',
    'lpName',
    's1',
    'source',
    'status',
    'updatedSince',
  ];
  for (const filter of filters) expect(names).toContain(filter);
  for (const { p50Ms, p99Ms } of figures.queries) expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
  expect(figures.rate.map(({ server }) => server)).toEqual([
    'service',
    'prisma findMany',
    'prisma findMany, same columns',
    'pg by hand',
    'plain Fastify, pg by hand',
  ]);
  for (const { requestsPerSecond } of figures.rate) expect(requestsPerSecond).toBeGreaterThan(0);
  expect(figures.website.map(({ name }) => name)).toEqual([
    'leads page, first content',
    'leads page, first row',
    'leads page, largest content',
    'overview page, largest content',
    'campaigns page, largest content',
    'statements page, largest content',
    'leads page, largest content, slow network',
    'overview page, largest content, slow network',
    'campaigns page, largest content, slow network',
    'statements page, largest content, slow network',
    'search by 7 digits, Enter to result',
    'palette by 7 digits, last digit to result',
    "change until in another operator's list",
    'overview of a year, from SQL',
    'overview of a year, over HTTP',
  ]);
  for (const { leads, p50Ms, maxMs } of figures.website) {
    expect(leads).toBe(10_000);
    expect(p50Ms).toBeGreaterThan(0);
    expect(maxMs).toBeGreaterThanOrEqual(p50Ms);
  }
  expect(figures.statement.map(({ leads }) => leads > 0)).toEqual([true, true, true, true]);
  for (const { httpMs, byHandMs } of figures.statement) expect(Math.min(httpMs, byHandMs)).toBeGreaterThan(0);
  expect(figures.replica.map(({ readsFrom }) => readsFrom)).toEqual(['primary', 'replica']);
  for (const { requestsPerSecond } of figures.replica) expect(requestsPerSecond).toBeGreaterThan(0);
  const [primary, replica] = figures.replica;
  expect(primary?.replicaUsPerList).toBeLessThan(replica?.replicaUsPerList ?? 0);
  for (const { rows, rowsPerSecond } of figures.export) {
    expect(rows).toBeGreaterThan(6_000);
    expect(rowsPerSecond).toBeGreaterThan(0);
  }
});

test('bench rejects invalid arguments with one line and exit code 1', async () => {
  const { code, stderr } = await runBench(['list', '--sizes', '5']);
  expect(code).toBe(1);
  expect(stderr).toBe('--sizes takes sizes from 10k to 100m, such as 10k,1m, not 5\n');
});
