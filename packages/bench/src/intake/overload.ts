import { median } from '../statistics.ts';
import type { Statuses } from '../load.ts';
import type { LeadLoadFigures } from './load.ts';
import type { Bench } from './measure.ts';
import { measurePeak, openIntake } from './peak.ts';

/** An intake at a share of its peak, whoever is answered or not. */
interface LoadedFigures {
  /** Leads a second that are due. */
  readonly offered: number;
  /** Answers with 200 a second. */
  readonly goodput: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly statuses: Statuses;
  /** Leads that found no connection free until the end. */
  readonly unsent: number;
}

export interface OverloadFigures {
  /** The most leads a second at 64 connections. */
  readonly peak: number;
  /** At half of the peak. */
  readonly half: LoadedFigures;
  /** At three times the peak. */
  readonly triple: LoadedFigures;
  /** Goodput at three times the peak, as a share of it: the median of the rounds' own. */
  readonly goodputShare: number;
  /** Right afterwards, at half of the peak again. */
  readonly recovery: LoadedFigures;
}

/** As many as a burst of visitors would open; fewer would hold back what is due, and more the service's backlog. */
const connections = 1_000;

/** Half of what the intake can carry, then three times as much as it can, then half again; over and over. */
export async function measureOverload(bench: Bench): Promise<OverloadFigures> {
  const { load, cluster, options, onProgress } = bench;
  const durationMs = options.seconds * 1000;
  await using intake = await openIntake(bench, 'overload');
  const rounds: { peak: number; half: LoadedFigures; triple: LoadedFigures; recovery: LoadedFigures }[] = [];
  for (let round = 0; round < options.rounds; round++) {
    await cluster.checkpoint();
    const peak = await measurePeak(load, intake, durationMs);
    const at = async (share: number): Promise<LoadedFigures> => {
      const rate = Math.max(1, Math.round(peak * share));
      const sent = await load.send({ ...intake.target, connections, durationMs, rate });
      return { offered: rate, goodput: sent.requestsPerSecond, ...partOf(sent) };
    };
    const half = await at(0.5);
    const triple = await at(3);
    const recovery = await at(0.5);
    rounds.push({ peak, half, triple, recovery });
    await intake.database.empty();
    onProgress(
      `  overload, round ${round + 1} of ${options.rounds}: peak ${peak.toFixed(0)}, at three times that ` +
        `${triple.goodput.toFixed(0)} ${JSON.stringify(triple.statuses)}`,
    );
  }
  return {
    peak: median(rounds.map(({ peak }) => peak)),
    half: mediansOf(rounds.map(({ half }) => half)),
    triple: mediansOf(rounds.map(({ triple }) => triple)),
    goodputShare: median(rounds.map(({ peak, triple }) => triple.goodput / peak)),
    recovery: mediansOf(rounds.map(({ recovery }) => recovery)),
  };
}

function partOf({ p50Ms, p99Ms, statuses, unsent }: LeadLoadFigures) {
  return { p50Ms, p99Ms, statuses, unsent };
}

/** Medians, and the sums of what is counted. */
function mediansOf(rounds: readonly LoadedFigures[]): LoadedFigures {
  const of = (key: 'offered' | 'goodput' | 'p50Ms' | 'p99Ms') => median(rounds.map((round) => round[key]));
  return {
    offered: of('offered'),
    goodput: of('goodput'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    statuses: sumOf(rounds.map(({ statuses }) => statuses)),
    unsent: rounds.reduce((sum, { unsent }) => sum + unsent, 0),
  };
}

export function sumOf(all: readonly Statuses[]): Statuses {
  const sum: Record<string, number> = {};
  for (const [status, count] of all.flatMap((statuses) => Object.entries(statuses))) {
    sum[status] = (sum[status] ?? 0) + count;
  }
  return sum;
}
