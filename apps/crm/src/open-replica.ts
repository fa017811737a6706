import {
  createLeadStore,
  createOverviewStore,
  type Database,
  Replica,
  readLeadsFrom,
  readOverviewFrom,
} from '@leads/core/db';
import type { LeadStore } from '@leads/core/lead';
import type { OverviewStore } from '@leads/core/overview';
import type { Logger } from '@leads/http/service/log';

/** Stores that read from a replica while it is available and current, and else from the primary. */
export interface ReplicaReads extends AsyncDisposable {
  readonly replica: Replica;
  leads(primary: LeadStore): LeadStore;
  overview(primary: OverviewStore): OverviewStore;
}

/**
 * Opens the stores that read from a replica.
 *
 * @param database the replica. Disposing the result closes it.
 */
export function openReplica(
  database: Database,
  { primary, maxLagMs }: { primary: Database; maxLagMs: number },
  log: Logger,
): ReplicaReads {
  const replica = new Replica({
    primary,
    replica: database,
    maxLagMs,
    onChange: (isUsed) =>
      isUsed
        ? log.info('The replica has caught up: it serves lists, exports and the overview')
        : log.warn(
            'The replica is unavailable or too far behind: the primary serves lists, exports and the overview',
          ),
  });
  return {
    replica,
    leads: (store) => readLeadsFrom(replica, { primary: store, replica: createLeadStore(database) }),
    overview: (store) =>
      readOverviewFrom(replica, { primary: store, replica: createOverviewStore(database) }),
    async [Symbol.asyncDispose]() {
      await replica[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
