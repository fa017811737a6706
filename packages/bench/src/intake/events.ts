import { median } from '../statistics.ts';
import type { Bench } from './measure.ts';
import { openIntake, usualConnections } from './peak.ts';

export interface EventsFigures {
  readonly leadsPerSecond: number;
  readonly leadsPerSecondWithout: number;
  /** The rate with the outbox as a share of that without it: the median of the rounds' own. */
  readonly ratio: number;
}

/** Leads whose events are noted in the outbox, and leads without, in turn. */
export async function measureEvents(bench: Bench): Promise<EventsFigures> {
  const { load, cluster, options, onProgress } = bench;
  await using intake = await openIntake(bench, 'events');
  const { database, target } = intake;
  const measure = async (kind: 'with' | 'without') => {
    await database.noteEvents(kind === 'with');
    await database.empty();
    await cluster.checkpoint();
    const durationMs = options.seconds * 1000;
    return (await load.send({ ...target, connections: usualConnections, durationMs })).requestsPerSecond;
  };
  const rounds: Record<'with' | 'without', number>[] = [];
  // The first round warms up and counts for nothing.
  for (let round = -1; round < options.rounds; round++) {
    const rates = { with: 0, without: 0 };
    for (const kind of round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      rates[kind] = await measure(kind);
    }
    if (round >= 0) rounds.push(rates);
  }
  onProgress(`  events, ${rounds.length} rounds`);
  return {
    leadsPerSecond: median(rounds.map((rates) => rates.with)),
    leadsPerSecondWithout: median(rounds.map((rates) => rates.without)),
    ratio: median(rounds.map((rates) => rates.with / rates.without)),
  };
}
