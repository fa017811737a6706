import { expect, test } from 'vitest';
import type { RollFigures } from '../src/rolling/rolls.ts';
import { runBench } from './run-bench.ts';

test('instances are restarted behind a proxy, and no lead is lost', { timeout: 400_000 }, async () => {
  const { code, stdout, stderr } = await runBench(['rolls', '--rolls', '1', '--rate', '50', '--json']);
  const { services, verdict, restarts, proxyErrors } = JSON.parse(stdout) as RollFigures;
  expect(services.map(({ service }) => service)).toEqual(['intake', 'crm']);
  // On a machine that gives a process no core for some tenths of a second a request or two are not taken: never answered
  // otherwise, and the command says so.
  const failed = services.flatMap(({ others }) => Object.entries(others));
  expect(
    failed.filter(([answer]) => answer !== '502' && answer !== '503'),
    `${stderr}${JSON.stringify(proxyErrors)}`,
  ).toEqual([]);
  expect(failed.reduce((sum, [, count]) => sum + count, 0)).toBeLessThan(verdict.acknowledged / 20);
  expect(verdict).toMatchObject({ lost: 0, duplicated: 0, missingEvents: 0, disorderedEvents: 0 });
  expect(verdict.acknowledged).toBeGreaterThan(200);
  expect(restarts.map(({ service }) => service).toSorted()).toEqual(['crm', 'crm', 'intake', 'intake']);
  expect(code).toBe(failed.length === 0 ? 0 : 1);
});

test.each<[string[], string]>([
  [['rolls', '--rolls', '0'], '--rolls'],
  [['upgrade', '--rate', 'x'], '--rate'],
  [['upgrade', '--from', 'no-such-revision'], 'no-such-revision'],
])('%j fails with one line', async (args, said) => {
  const { code, stderr } = await runBench(args);
  expect(code).toBe(1);
  expect(stderr.trim().split('\n').at(-1)).toContain(said);
});
