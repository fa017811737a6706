import type { FairQueue } from '@leads/core/limits';
import type { Metrics } from '@leads/http/service/metrics';
import type { ReplicaReads } from './open-replica.ts';

type ReadQueue = Pick<FairQueue, 'load'>;

/** Registers the metric of the statements of searches, counts, exports and overviews. */
export function registerCostlyReadMetrics(metrics: Metrics, costlyReads: ReadQueue): void {
  const help = 'Statements of searches, counts, exports and overviews.';
  metrics.gauge({ name: 'costly_reads', help }, () => samplesOf(costlyReads));
}

/** Registers the metric of the reads of event streams from Postgres. */
export function registerEventReadMetrics(metrics: Metrics, eventReads: ReadQueue): void {
  const help = 'Reads of event streams from Postgres.';
  metrics.gauge({ name: 'event_reads', help }, () => samplesOf(eventReads));
}

/** Registers the metric of the replica's lag. */
export function registerReplicaMetrics(metrics: Metrics, { replica }: Pick<ReplicaReads, 'replica'>): void {
  metrics.gauge(
    { name: 'db_replica_lag_seconds', help: 'Maximum lag of the Postgres replica.' },
    () => replica.lagSeconds ?? [],
    'max',
  );
}

function samplesOf({ load }: ReadQueue): [{ state: string }, number][] {
  return [
    [{ state: 'running' }, load.running],
    [{ state: 'waiting' }, load.waiting],
  ];
}
