import { expect, test } from 'vitest';
import { runBench } from './run-bench.ts';

interface AttackFigures {
  readonly attack: string;
  readonly requests: number;
  readonly refused: number;
  readonly attackerStatuses: Readonly<Record<string, number>>;
}

test('bench neighbors refuses no request of a workspace while another workspace attacks', async () => {
  const { stdout, stderr } = await runBench(['neighbors', '--size', '10k', '--seconds', '0.3', '--json']);
  const { attacks } = JSON.parse(stdout) as { attacks: AttackFigures[] };
  const names = ['searches', 'pages', 'streams', 'exports', 'imports', 'unknownKeys', 'longLeads'];
  expect(attacks.map(({ attack }) => attack)).toEqual(names);
  // The exit code also depends on the ratios, which a busy machine changes.
  expect(
    attacks.map(({ refused }) => refused),
    stderr,
  ).toEqual(names.map(() => 0));
  for (const { requests } of attacks) expect(requests).toBeGreaterThan(0);
  const [, , streams, exports, , unknownKeys] = attacks.map(({ attackerStatuses }) => attackerStatuses);
  expect(streams?.['200']).toBe(100);
  // A workspace has at most 4 exports at once. An export that fits into the buffers of its connection ends early.
  expect(exports?.['200']).toBeGreaterThanOrEqual(4);
  expect(unknownKeys?.['429']).toBeGreaterThan(0);
});
