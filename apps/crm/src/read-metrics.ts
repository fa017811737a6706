import type { FairQueue } from '@leads/core/limits';
import type { Metrics } from '@leads/http/service/metrics';
import type { ReplicaReads } from './open-replica.ts';

/** Registers the metric of the statements of searches, counts, exports and overviews. */
export function registerCostlyReadMetrics(metrics: Metrics, costlyReads: Pick<FairQueue, 'load'>): void {
  metrics.gauge(
    { name: 'costly_reads', help: 'Statements of searches, counts, exports and overviews.' },
    () => [
      [{ state: 'running' }, costlyReads.load.running],
      [{ state: 'waiting' }, costlyReads.load.waiting],
    ],
  );
}

/** Registers the metric of the replica's lag. */
export function registerReplicaMetrics(metrics: Metrics, { replica }: Pick<ReplicaReads, 'replica'>): void {
  metrics.gauge(
    { name: 'db_replica_lag_seconds', help: 'Maximum lag of the Postgres replica.' },
    () => replica.lagSeconds ?? [],
    'max',
  );
}
