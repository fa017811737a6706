import { median } from '../statistics.ts';
import type { Statuses } from '../load.ts';
import type { Bench } from './measure.ts';
import { sumOf } from './overload.ts';
import { openIntake, usualConnections } from './peak.ts';

/** What the others see of leads that are refused. */
interface PoisonedFigures {
  /** Of leads that are not meant to be refused. */
  readonly p99Ms: number;
  readonly statuses: Statuses;
  /** Of those that are. */
  readonly poisonStatuses: Statuses;
  /** p99 as a multiple of that without any: the median of the rounds' own. */
  readonly slower: number;
}

export interface PoisonFigures {
  readonly without: PoisonedFigures;
  /** One in a hundred has a body that does not hold. */
  readonly invalid: PoisonedFigures;
  /** One in a hundred is refused by Postgres alone, by a constraint that the service does not know of. */
  readonly refused: PoisonedFigures;
}

/** Leads alone, and with one in a hundred that is refused, in turn. */
export async function measurePoison(bench: Bench): Promise<PoisonFigures> {
  const { load, cluster, options, onProgress } = bench;
  await using intake = await openIntake(bench, 'poison');
  const send = (poison?: 'invalid' | 'refused') =>
    load.send({
      ...intake.target,
      connections: usualConnections,
      durationMs: options.seconds * 1000,
      ...(poison !== undefined && { poison }),
    });
  await send();
  const rounds: Record<keyof PoisonFigures, Awaited<ReturnType<typeof send>>[]> = {
    without: [],
    invalid: [],
    refused: [],
  };
  for (let round = 0; round < options.rounds; round++) {
    for (const kind of ['without', 'invalid', 'refused'] as const) {
      await intake.database.empty();
      if (kind === 'refused') await intake.database.refusePoison(true);
      await cluster.checkpoint();
      rounds[kind].push(await send(kind === 'without' ? undefined : kind));
      if (kind === 'refused') await intake.database.refusePoison(false);
    }
    onProgress(`  poison, round ${round + 1} of ${options.rounds}`);
  }
  const figuresOf = (kind: keyof PoisonFigures): PoisonedFigures => ({
    p99Ms: median(rounds[kind].map(({ p99Ms }) => p99Ms)),
    statuses: sumOf(rounds[kind].map(({ statuses }) => statuses)),
    poisonStatuses: sumOf(rounds[kind].map(({ poisonStatuses }) => poisonStatuses)),
    slower: median(
      rounds[kind].map(({ p99Ms }, round) => p99Ms / (rounds.without[round]?.p99Ms ?? Number.NaN)),
    ),
  });
  return { without: figuresOf('without'), invalid: figuresOf('invalid'), refused: figuresOf('refused') };
}
