import {
  createLeadStore,
  createOverviewStore,
  type Database,
  Replica,
  readLeadsFrom,
  readOverviewFrom,
  recordNotes,
  recordPayments,
} from '@leads/core/db';
import type { LeadNoteStore, LeadStore } from '@leads/core/lead';
import type { OverviewStore } from '@leads/core/overview';
import type { PaymentStore } from '@leads/core/payout';
import type { Logger } from '@leads/http/service/log';

/**
 * Stores that read from a replica while it is available and current, and else from the primary. Those of notes and payments
 * use the primary only. After their changes, the other stores read from the primary until the replica has the changes.
 */
export interface ReplicaReads extends AsyncDisposable {
  readonly replica: Replica;
  leads(primary: LeadStore): LeadStore;
  overview(primary: OverviewStore): OverviewStore;
  notes(primary: LeadNoteStore): LeadNoteStore;
  payments(primary: PaymentStore): PaymentStore;
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
    notes: (store) => recordNotes(replica, store),
    payments: (store) => recordPayments(replica, store),
    async [Symbol.asyncDispose]() {
      await replica[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
