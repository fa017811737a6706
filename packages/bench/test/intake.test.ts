import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { IntakeFigures } from '../src/intake/measure.ts';
import { runBench } from './run-bench.ts';

const smallest = ['--rounds', '1', '--seconds', '0.4'];

test('bench compares the intake with everything it says, with the smallest effort', {
  timeout: 180_000,
}, async () => {
  const { code, stdout, stderr } = await runBench([...smallest, '--connections', '1,4', '--json']);
  expect(code, stderr).toBe(0);
  const { comparison, settings } = JSON.parse(stdout) as IntakeFigures;

  expect(settings).toEqual(
    expect.arrayContaining(['fsync on', 'synchronous_commit on', 'full_page_writes on']),
  );
  const hasPgbench = spawnSync('pgbench', ['--version']).status === 0;
  const contenders = ['intake', 'fastify', 'prisma', 'pg', ...(hasPgbench ? ['pgbench'] : [])];
  const figures = comparison?.figures ?? [];
  expect(figures.map(({ contender, connections }) => `${contender} ${connections}`)).toEqual(
    contenders.flatMap((contender) => [`${contender} 1`, `${contender} 4`]),
  );
  for (const { medians } of figures) {
    expect(medians.leadsPerSecond).toBeGreaterThan(0);
    expect(medians.p50Ms).toBeLessThanOrEqual(medians.p99Ms);
    expect(medians.p99Ms).toBeLessThanOrEqual(medians.p999Ms);
    expect(medians.others).toBe(0);
  }
  // What is told of processes is known on Linux alone.
  const known = (key: 'postgresUs' | 'serviceUs' | 'peakMemory') =>
    figures.filter(({ medians }) => medians[key] > 0).map(({ contender }) => contender);
  const told = (names: string[]) =>
    process.platform === 'linux' ? names.flatMap((name) => [name, name]) : [];
  expect(known('postgresUs')).toEqual(told(contenders.filter((name) => name !== 'fastify')));
  expect(known('serviceUs')).toEqual(told(contenders.slice(0, 4)));
  expect(known('peakMemory')).toEqual(told(contenders.slice(0, 4)));

  const rated = (comparison?.ratios ?? []).filter(
    ({ ratio, name }) => name.startsWith('leads/s') && ratio > 0,
  );
  expect(rated.map(({ connections }) => connections)).toEqual([1, 4, 1, 4, 1, 4].slice(hasPgbench ? 0 : 2));
});

test('the other steps answer what they ask', { timeout: 180_000 }, async () => {
  const steps = ['--steps', 'overload,poison,soak,start,crm', '--minutes', '0.02'];
  const { code, stdout, stderr } = await runBench(['intake', ...smallest, ...steps, '--json']);
  expect(code, stderr).toBe(0);
  const { overload, poison, soak, start, crm } = JSON.parse(stdout) as IntakeFigures;

  expect(overload?.triple.goodput).toBeGreaterThan(0);
  expect(overload?.recovery.statuses['200']).toBeGreaterThan(0);
  expect(poison?.without.poisonStatuses).toEqual({});
  expect(Object.keys(poison?.invalid.statuses ?? {})).toEqual(['200']);
  expect(Object.keys(poison?.invalid.poisonStatuses ?? {})).toEqual(['400']);
  // What is asked of these is that the others are not refused with them.
  expect(Object.keys(poison?.refused.statuses ?? {})).toEqual(['200']);
  expect(poison?.refused.poisonStatuses).not.toEqual({});
  expect(poison?.refused.poisonStatuses).not.toHaveProperty('200');
  // Not all may be sent in time, where others share the machine; what is acknowledged is there.
  expect(soak).toMatchObject({ missing: 0, stored: soak?.acknowledged });
  expect(soak?.acknowledged).toBe(soak?.statuses['200']);
  expect(Math.min(...(soak?.heap ?? []))).toBeGreaterThan(5_000_000);
  expect(start?.medianMs).toBeGreaterThan(50);
  expect(crm?.ratio).toBeGreaterThan(0);
});

test.each<[string[], string]>([
  [['everything'], 'everything'],
  [['--steps', 'nothing'], 'nothing'],
  [['--connections', '1,x'], '--connections'],
  [['--rounds', '0'], '--rounds'],
  [['--seconds', '0'], '--seconds'],
  [['--sizes', '10k'], '--sizes'],
])('%j fails with one line', async (args, said) => {
  const { code, stderr } = await runBench(args);
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(said);
});
