import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { baselines } from '../src/baseline.ts';
import type { IntakeFigures } from '../src/intake/command.ts';
import { runBench } from './run-bench.ts';

const steps = 'table,overload,rejected,soak,start,crmload,payouts';
const smallest = ['--rounds', '1', '--seconds', '0.1', '--connections', '4', '--minutes', '0.01'];

let figures: IntakeFigures;
// All steps at once, because each run starts and migrates a Postgres.
beforeAll(async () => {
  const { code, stdout, stderr } = await runBench([...smallest, '--steps', steps, '--json']);
  if (code !== 0) throw new Error(stderr);
  figures = JSON.parse(stdout) as IntakeFigures;
});

test('bench intake compares the intake with every reference, in the smallest configuration', () => {
  const { table, settings } = figures;
  expect(settings).toEqual(
    expect.arrayContaining(['fsync on', 'synchronous_commit on', 'full_page_writes on']),
  );
  const hasPgbench = spawnSync('pgbench', ['--version']).status === 0;
  const pg = ['pg, one insert', 'pg, one insert, one index'];
  const servers = ['this intake', 'Fastify, no database', 'prisma.lead.create', ...pg];
  const targets = [...servers, ...(hasPgbench ? ['pgbench', 'pgbench, one index'] : [])];
  const rows = table?.figures ?? [];
  expect(rows.map(({ target, connections }) => `${target} ${connections}`)).toEqual(
    targets.map((target) => `${target} 4`),
  );
  for (const { leadsPerSecond, p50Ms, p99Ms, p999Ms, not200 } of rows) {
    expect(leadsPerSecond).toBeGreaterThan(0);
    expect(p50Ms).toBeLessThanOrEqual(p99Ms);
    expect(p99Ms).toBeLessThanOrEqual(p999Ms);
    expect(not200).toBe(0);
  }
  // Processor time and memory are available on Linux only.
  const measured = (key: 'postgresUsPerLead' | 'serviceUsPerLead' | 'maxMemoryMb') =>
    rows.filter((row) => typeof row[key] === 'number').map(({ target }) => target);
  const expected = (names: string[]) => (process.platform === 'linux' ? names : []);
  expect(measured('postgresUsPerLead')).toEqual(
    expected(targets.filter((name) => !name.startsWith('Fastify'))),
  );
  expect(measured('serviceUsPerLead')).toEqual(expected(servers));
  expect(measured('maxMemoryMb')).toEqual(expected(servers));

  const ratios = (table?.ratios ?? []).filter(({ ratio, found }) => ratio === 'leads/s' && found > 0);
  expect(ratios).toHaveLength(hasPgbench ? 5 : 3);
});

test('the baseline has each ratio with a required value', () => {
  for (const step of ['table', 'crmload'] as const) {
    const required = (figures[step]?.ratios ?? []).filter((each) => each.required !== '');
    const known = baselines[step].map(({ ratio, to }) => `${ratio} ${to}`);
    // The p50 of the intake is required at 1 connection, which `--check` does not measure.
    expect(known).toEqual(
      expect.arrayContaining(
        required.map(({ ratio, to }) => `${ratio} ${to}`).filter((name) => !name.startsWith('p50 ')),
      ),
    );
  }
});

test('with --wrk, bench intake sends its load with wrk, or names the package if wrk is not installed', async () => {
  const isInstalled = spawnSync('wrk', ['--version']).error === undefined;
  const { code, stdout, stderr } = await runBench([...smallest, '--steps', 'crmload', '--wrk', '--json']);
  const crmload = code === 0 ? (JSON.parse(stdout) as IntakeFigures).crmload : undefined;
  const result = crmload?.ratios.map(({ found }) => found > 0) ?? stderr;
  const missing =
    'wrk is not installed. Install it (Debian, Ubuntu: sudo apt-get install wrk), or omit --wrk\n';
  expect(result).toEqual(isInstalled ? [true, true, true, true, true, true] : missing);
});

test('bench intake prints the required figures of the other steps', () => {
  const { overload, rejected, soak, start, crmload, payouts } = figures;
  expect(payouts?.map(({ subject }) => subject)).toEqual([
    'without payouts',
    'no rule',
    'a payout',
    'a payout and a hold time',
    'without payouts again',
  ]);
  for (const { rateRatio } of payouts ?? []) expect(rateRatio).toBeGreaterThan(0);
  const [half, triple, halfAgain] = overload?.loads ?? [];
  expect(half?.requestsPerSecond).toBeGreaterThan(0);
  expect(triple?.requestsPerSecond).toBeGreaterThan(0);
  expect(halfAgain?.statuses['200']).toBeGreaterThan(0);
  const [alone, byValidation, byDatabase] = rejected ?? [];
  expect(alone?.rejectionStatuses).toEqual({});
  expect(Object.keys(byValidation?.statuses ?? {})).toEqual(['200']);
  expect(Object.keys(byValidation?.rejectionStatuses ?? {})).toEqual(['400']);
  // Valid leads of the same batch are stored.
  expect(Object.keys(byDatabase?.statuses ?? {})).toEqual(['200']);
  expect(byDatabase?.rejectionStatuses).not.toEqual({});
  expect(byDatabase?.rejectionStatuses).not.toHaveProperty('200');
  // Other load on the machine may delay leads, but every acknowledged lead is stored.
  expect(soak).toMatchObject({ missing: 0, stored: soak?.acknowledged });
  expect(soak?.acknowledged).toBe(soak?.statuses['200']);
  expect(Math.min(...(soak?.heapMb ?? []))).toBeGreaterThan(5);
  expect(start?.medianMs).toBeGreaterThan(50);
  // Each status change changed a lead: the CRM answers a wrong transition with 409.
  for (const { statuses } of crmload?.figures ?? []) expect(Object.keys(statuses)).toEqual(['200']);
  expect(crmload?.figures).toHaveLength(10);
  expect(crmload?.ratios.map(({ found }) => found > 0)).toEqual([true, true, true, true, true, true]);
});
