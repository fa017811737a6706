import { DisposeStack } from '@leads/core/dispose-stack';
import { measureInTurn, medianFigures, medianRatio } from '../statistics.ts';
import type { Bench } from './bench.ts';
import { startTargets, type TargetFigures, type TargetName, targetTitles } from './targets.ts';

/** The required ratios of the intake to its references, at 64 connections unless stated otherwise. */
const requirements: readonly {
  ratio: string;
  figure: keyof TargetFigures;
  reference: TargetName;
  required: string;
}[] = [
  { ratio: 'leads/s', figure: 'leadsPerSecond', reference: 'fastify', required: '0.65 or more' },
  { ratio: 'leads/s', figure: 'leadsPerSecond', reference: 'pgbenchOneIndex', required: '1 or more' },
  { ratio: 'leads/s', figure: 'leadsPerSecond', reference: 'pgOneIndex', required: '' },
  { ratio: 'leads/s', figure: 'leadsPerSecond', reference: 'pgbench', required: '1.2 or more' },
  { ratio: 'leads/s', figure: 'leadsPerSecond', reference: 'prisma', required: '5 or more' },
  { ratio: 'service us/lead', figure: 'serviceUsPerLead', reference: 'fastify', required: '1.35 or less' },
  {
    ratio: 'Postgres us/lead',
    figure: 'postgresUsPerLead',
    reference: 'pgbenchOneIndex',
    required: '0.3 or less',
  },
  { ratio: 'Postgres us/lead', figure: 'postgresUsPerLead', reference: 'pgbench', required: '0.3 or less' },
  { ratio: 'p99', figure: 'p99Ms', reference: 'fastify', required: '1.5 or less' },
  { ratio: 'p50', figure: 'p50Ms', reference: 'pg', required: '1.5 or less, at 1' },
];

/** Measures the intake and its references in turn, at each number of connections. Figures are medians of the rounds. */
export async function compareWithReferences(bench: Bench) {
  await using resources = new DisposeStack();
  const targets = await startTargets(bench, resources);
  const pairs = bench.connections.flatMap((connections) =>
    targets.map((target) => ({ target, connections })),
  );
  const measured = await measureInTurn(pairs, bench.rounds, async ({ target, connections }) => {
    const figures = await target.measure(connections);
    const rate = figures.leadsPerSecond.toFixed(0);
    bench.onProgress(`  ${targetTitles[target.name]}, ${connections} connections: ${rate} leads/s`);
    return figures;
  });
  const roundsOf = (name: TargetName, connections: number, figure: keyof TargetFigures) => {
    const at = pairs.findIndex((pair) => pair.target.name === name && pair.connections === connections);
    return (measured[at] ?? []).map((figures) => figures[figure]);
  };
  return {
    figures: pairs.map(({ target, connections }, at) =>
      figuresOf(targetTitles[target.name], connections, measured[at] ?? []),
    ),
    /** The ratio is the median of the ratios of each round; NaN without a reference. */
    ratios: requirements.flatMap(({ ratio, figure, reference, required }) =>
      bench.connections.map((connections) => ({
        ratio,
        to: targetTitles[reference],
        connections,
        found: medianRatio(roundsOf('intake', connections, figure), roundsOf(reference, connections, figure)),
        required,
      })),
    ),
  };
}

/** Returns the medians of the rounds, and the maximum of `not200`. */
function figuresOf(target: string, connections: number, rounds: readonly TargetFigures[]) {
  const not200 = Math.max(...rounds.map((round) => round.not200));
  return { target, connections, ...medianFigures(rounds), not200 };
}
