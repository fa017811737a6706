import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { FuzzFigures } from '../src/fuzz/command.ts';
import { signalTree } from '../src/process-tree.ts';
import { temporaryDirectory } from '../src/stack/temporary-directory.ts';
import { runBench } from './run-bench.ts';

/** Longer than the default timeout of a connection to Postgres. */
const pauseMs = 4_000;

test('bench fuzz finds no 5xx, no missing or second response, and no response outside the contract, also if Postgres is paused for seconds', async () => {
  await using directory = temporaryDirectory(undefined);
  let pauses = 0;
  const pausePostgres = async () => {
    const [run = ''] = readdirSync(directory.path);
    const pid = Number.parseInt(readFileSync(join(directory.path, run, 'postgres/postmaster.pid'), 'utf8'));
    signalTree(pid, 'SIGSTOP');
    await sleep(pauseMs);
    signalTree(pid, 'SIGCONT');
    pauses += 1;
  };
  const { code, stdout, stderr } = await runBench(
    ['fuzz', '--requests', '1200', '--data-dir', directory.path, '--json'],
    (lines) => {
      if (/: \d+ requests$/m.test(lines)) void pausePostgres();
    },
  );
  const { examples, services, ...counts } = JSON.parse(stdout) as FuzzFigures;
  expect(examples, stderr).toEqual([]);
  expect(counts).toEqual({ seed: 1, serverErrors: 0, unanswered: 0, secondAnswers: 0, outsideContract: 0 });
  expect(services.map(({ service, requests }) => [service, requests])).toEqual([
    ['crm', 900],
    ['intake', 300],
  ]);
  // Some requests reach their handler, and some do not.
  for (const { statuses } of services) expect(statuses).toMatch(/^200: \d+.* 400: \d+/);
  expect(pauses).toBe(2);
  expect(code).toBe(0);
});
