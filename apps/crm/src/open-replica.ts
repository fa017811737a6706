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

/** Stores of the primary that read from a replica where it serves. */
export interface ReplicaReads extends AsyncDisposable {
  readonly replica: Replica;
  leads(primary: LeadStore): LeadStore;
  overview(primary: OverviewStore): OverviewStore;
}

/** @param database the replica's; it is closed with what is returned. */
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
        ? log.info('The replica is level: lists, exports and the overview are read from it')
        : log.warn(
            'The replica is away or too far behind: lists, exports and the overview are read from the primary',
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
