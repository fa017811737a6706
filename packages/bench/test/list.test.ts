import { expect, test } from 'vitest';
import type { ListFigures } from '../src/report.ts';
import { runBench } from './run-bench.ts';

test('bench list measures everything it says, in the smallest sizes', { timeout: 180_000 }, async () => {
  const sizes = ['--sizes', '10k', '--rate-sizes', '10k', '--export-size', '10k'];
  const { code, stdout, stderr } = await runBench(['list', ...sizes, '--effort', '0.01', '--json']);
  expect(code, stderr).toBe(0);
  const { queries, rates, indexes, website, replica, exports } = JSON.parse(stdout) as ListFigures;

  const names = queries.map(({ name }) => name).join();
  for (const filter of [
    'status',
    'campaignCode',
    'createdFrom',
    'createdTo',
    'updatedSince',
    's1',
    'lpName',
    'source',
  ]) {
    expect(names).toContain(filter);
  }
  for (const { p50Ms, p99Ms } of queries) expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
  expect(rates.map(({ kind }) => kind)).toEqual([
    'service',
    'prisma findMany',
    'prisma findMany, same columns',
    'pg by hand',
  ]);
  for (const { rate } of rates) expect(rate).toBeGreaterThan(0);
  expect(indexes.filter(({ usedBy }) => usedBy.length === 0)).toEqual([]);
  expect(website.map(({ name }) => name)).toEqual([
    'leads page, first content',
    'leads page, first row',
    'overview of a year, from SQL',
    'overview of a year, over HTTP',
  ]);
  for (const { leads, p50Ms, maxMs } of website) {
    expect(leads).toBe(10_000);
    expect(p50Ms).toBeGreaterThan(0);
    expect(maxMs).toBeGreaterThanOrEqual(p50Ms);
  }
  expect(replica.map(({ readsFrom }) => readsFrom)).toEqual(['primary', 'replica']);
  for (const { rate, own, ownSeen } of replica) {
    expect(rate).toBeGreaterThan(0);
    expect(own).toBeGreaterThan(0);
    expect(ownSeen).toBe(own);
  }
  expect(replica[0]?.replicaUs).toBeLessThan(replica[1]?.replicaUs ?? 0);
  for (const { rows, rowsPerSecond } of exports) {
    expect(rows).toBeGreaterThan(6_000);
    expect(rowsPerSecond).toBeGreaterThan(0);
  }
});

test.each<[string[], string]>([
  [['list', '--sizes', '5'], '--sizes'],
  [['list', '--steps', 'nothing'], 'nothing'],
  [['list', '--effort', '0'], '--effort'],
  [['list', '--fast'], '--fast'],
])('%j fails with one line', async (args, said) => {
  const { code, stderr } = await runBench(args);
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(said);
});

test('--help tells the options', async () => {
  const { code, stdout } = await runBench(['--help']);
  expect(code).toBe(0);
  for (const option of [
    '--connections',
    '--rounds',
    '--seconds',
    '--minutes',
    '--workers',
    '--sizes',
    '--rate-sizes',
    '--export-size',
    '--steps',
    '--effort',
    '--data-dir',
    '--scenarios',
    '--rate',
    '--short',
    '--json',
  ]) {
    expect(stdout).toContain(option);
  }
});
