import { expect, test } from 'vitest';
import type { FuzzFigures } from '../src/fuzz/command.ts';
import { runBench } from './run-bench.ts';

test('bench fuzz finds no 5xx, no missing or second response, and no response outside the contract', async () => {
  const { code, stdout, stderr } = await runBench(['fuzz', '--requests', '1200', '--json']);
  const { examples, services, ...counts } = JSON.parse(stdout) as FuzzFigures;
  expect(examples, stderr).toEqual([]);
  expect(counts).toEqual({ seed: 1, serverErrors: 0, unanswered: 0, secondAnswers: 0, outsideContract: 0 });
  expect(services.map(({ service, requests }) => [service, requests])).toEqual([
    ['crm', 900],
    ['intake', 300],
  ]);
  // Some requests reach their handler, and some do not.
  for (const { statuses } of services) expect(statuses).toMatch(/^200: \d+.* 400: \d+/);
  expect(code).toBe(0);
});
