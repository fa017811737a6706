import { expect, test } from 'vitest';
import type { DeliveryFigures } from '../src/deliveries/command.ts';
import { runBench } from './run-bench.ts';

test('bench deliveries prints the required figures, in the smallest configuration', async () => {
  const smallest = [
    '--rounds',
    '1',
    '--seconds',
    '0.1',
    '--waiting',
    '100',
    '--steps',
    'intake,drain,failing',
    // Needs Linux, as the processor times of the other benches do.
    ...(process.platform === 'linux' ? ['--own-core'] : []),
  ];
  const { code, stdout, stderr } = await runBench(['deliveries', ...smallest, '--json']);
  expect(code, stderr).toBe(0);
  const { intake, drain, failing } = JSON.parse(stdout) as DeliveryFigures;

  expect(intake?.map(({ subject }) => subject)).toEqual([
    'no endpoint',
    'queued',
    'no endpoint again',
    'queued and sent',
  ]);
  for (const { leadsPerSecond, rateRatio, not200 } of intake ?? []) {
    expect(Math.min(leadsPerSecond, rateRatio)).toBeGreaterThan(0);
    expect(not200).toBe(0);
  }
  expect(drain).toMatchObject({ waiting: 100 });
  expect(failing?.receivers.map(({ deliveries }) => deliveries)).toEqual([30, 30]);
});
