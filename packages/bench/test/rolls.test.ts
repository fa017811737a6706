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
  // If no process runs for some seconds, a service sheds load (503), and nginx loses connections that it does not
  // retry (502). The command fails then.
  const failed = services.flatMap(({ not200Statuses }) => Object.entries(not200Statuses));
  const details = `${stderr}${JSON.stringify({ services, proxyErrors })}`;
  expect(
    failed.filter(([answer]) => answer !== '502' && answer !== '503'),
    details,
  ).toEqual([]);
  // A connection that a stopped instance refuses never becomes a 502, because nginx uses the other instance.
  const badGateways = sum(failed.filter(([answer]) => answer === '502'));
  const otherErrors = Object.entries(proxyErrors).filter(([message]) => !message.includes('refused'));
  expect(badGateways, details).toBeLessThanOrEqual(sum(otherErrors));
  expect(sum(failed), details).toBeLessThan(verification.acknowledged);
  expect(verification).toMatchObject({ lost: 0, duplicated: 0, missingEvents: 0, disorderedEvents: 0 });
  expect(verification.acknowledged).toBeGreaterThan(100);
  expect(restarts).toMatchObject([
    { service: 'intake', count: 2 },
    { service: 'crm', count: 2 },
  ]);
  expect(code).toBe(failed.length === 0 ? 0 : 1);
});

/** Returns the sum of the counts. */
function sum(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((total, [, count]) => total + count, 0);
}

test('an invalid argument ends the program with one line and exit code 1', async () => {
  const { code, stderr } = await runBench(['upgrade', '--from', 'no-such-revision']);
  expect(code).toBe(1);
  expect(stderr.trim().split('\n').at(-1)).toContain('no-such-revision');
});
