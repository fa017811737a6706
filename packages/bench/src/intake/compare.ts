import { median } from '../statistics.ts';
import { type Contender, type ContenderName, type Measurement, titleOf } from './contenders.ts';

/** What a contender reached at a number of connections. */
interface ComparedFigures {
  readonly contender: ContenderName;
  readonly connections: number;
  /** Of the rounds; of `others`, the most. */
  readonly medians: Measurement;
}

/** How this intake compares, the median of the rounds' own; NaN where there is nothing to compare with. */
interface Ratio {
  readonly name: string;
  readonly asked: string;
  readonly connections: number;
  readonly ratio: number;
}

export interface Comparison {
  readonly figures: ComparedFigures[];
  readonly ratios: Ratio[];
}

/** What is asked of the intake, at 64 connections if nothing else is said. */
const ratios: readonly {
  name: string;
  asked: string;
  of: keyof Measurement;
  to: ContenderName;
}[] = [
  { name: 'leads/s, of pgbench', asked: '1.2 or more', of: 'leadsPerSecond', to: 'pgbench' },
  { name: 'leads/s, of prisma.lead.create', asked: '5 or more', of: 'leadsPerSecond', to: 'prisma' },
  {
    name: 'leads/s, of Fastify without a database',
    asked: '0.5 or more',
    of: 'leadsPerSecond',
    to: 'fastify',
  },
  { name: 'service us/lead, of Fastify', asked: '1.6 or less', of: 'serviceUs', to: 'fastify' },
  { name: 'Postgres us/lead, of pgbench', asked: '0.3 or less', of: 'postgresUs', to: 'pgbench' },
  { name: 'p50, of one insert by pg', asked: '1.5 or less, at 1', of: 'p50Ms', to: 'pg' },
];

/** Measures everyone at every number of connections in turn, each round in another order. */
export async function compare(
  contenders: readonly Contender[],
  options: { connections: readonly number[]; rounds: number; seconds: number },
  onProgress: (line: string) => void,
): Promise<Comparison> {
  const { connections, rounds, seconds } = options;
  const measured = contenders.flatMap((contender) =>
    connections.map((count) => ({ contender, connections: count, rounds: [] as Measurement[] })),
  );
  onProgress('Warming up');
  for (const contender of contenders) await contender.measure(Math.max(...connections), seconds);
  for (let round = 0; round < rounds; round++) {
    for (const count of connections) {
      const those = measured.filter((each) => each.connections === count);
      for (let turn = 0; turn < those.length; turn++) {
        const each = those[(turn + round) % those.length];
        each?.rounds.push(await each.contender.measure(count, seconds));
      }
      const rates = those.map(
        (each) => `${titleOf(each.contender.name)} ${each.rounds.at(-1)?.leadsPerSecond.toFixed(0)}`,
      );
      onProgress(`  round ${round + 1} of ${rounds}, ${count} connections, leads/s: ${rates.join(', ')}`);
    }
  }

  const roundsOf = (name: ContenderName, count: number) =>
    measured.find((each) => each.contender.name === name && each.connections === count)?.rounds ?? [];
  return {
    figures: measured.map((each) => ({
      contender: each.contender.name,
      connections: each.connections,
      medians: mediansOf(each.rounds),
    })),
    ratios: ratios.flatMap(({ name, asked, of, to }) =>
      connections.map((count) => {
        const references = roundsOf(to, count);
        const each = roundsOf('intake', count).map(
          (own, round) => own[of] / (references[round]?.[of] ?? Number.NaN),
        );
        return { name, asked, connections: count, ratio: median(each) };
      }),
    ),
  };
}

function mediansOf(rounds: readonly Measurement[]): Measurement {
  const of = (key: keyof Measurement) => median(rounds.map((round) => round[key]));
  return {
    leadsPerSecond: of('leadsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    p999Ms: of('p999Ms'),
    serviceUs: of('serviceUs'),
    postgresUs: of('postgresUs'),
    peakMemory: of('peakMemory'),
    others: Math.max(...rounds.map((round) => round.others)),
  };
}
