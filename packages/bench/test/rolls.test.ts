import { expect, test } from 'vitest';
import type { TrafficFigures } from '../src/stack/client-traffic.ts';
import { runBench } from './run-bench.ts';

test('bench rolls restarts instances behind a proxy without losing a lead', async () => {
  const { code, stdout, stderr } = await runBench(['rolls', '--rolls', '1', '--rate', '20', '--json']);
  const { services, verification, restarts, proxyErrors } = JSON.parse(stdout) as TrafficFigures & {
    restarts: { service: string; count: number }[];
    proxyErrors: Record<string, number>;
  };
  expect(services.map(({ service }) => service)).toEqual(['intake', 'crm']);
  // A machine under load may delay a process for some tenths of a second. Single requests then fail with 502
  // or 503, and the command fails.
  const failed = services.flatMap(({ not200Statuses }) => Object.entries(not200Statuses));
  expect(
    failed.filter(([answer]) => answer !== '502' && answer !== '503'),
    `${stderr}${JSON.stringify(proxyErrors)}`,
  ).toEqual([]);
  expect(failed.reduce((sum, [, count]) => sum + count, 0)).toBeLessThan(verification.acknowledged / 20);
  expect(verification).toMatchObject({ lost: 0, duplicated: 0, missingEvents: 0, disorderedEvents: 0 });
  expect(verification.acknowledged).toBeGreaterThan(100);
  expect(restarts).toMatchObject([
    { service: 'intake', count: 2 },
    { service: 'crm', count: 2 },
  ]);
  expect(code).toBe(failed.length === 0 ? 0 : 1);
});

test('an invalid argument ends the program with one line and exit code 1', async () => {
  const { code, stderr } = await runBench(['upgrade', '--from', 'no-such-revision']);
  expect(code).toBe(1);
  expect(stderr.trim().split('\n').at(-1)).toContain('no-such-revision');
});
