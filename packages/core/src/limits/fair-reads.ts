import type { AuditStore } from '../audit/audit-log.ts';
import type { EventLog } from '../event/event-log.ts';
import type { LeadFilter, LeadStore } from '../lead/lead-store.ts';
import type { OverviewStore } from '../overview/overview-store.ts';
import type { PaymentStore } from '../payout/payment-store.ts';
import type { PayoutStore } from '../payout/payout-store.ts';
import type { FairQueue } from './fair-queue.ts';

/** The fair queues of workspaces. */
interface ReadQueues {
  /** For lists with a filter, counts and exports. */
  readonly costly: FairQueue;
  /** For pages without a filter and of histories. */
  readonly pages: FairQueue;
}

/** Returns a lead store whose reads wait in fair queues of workspaces. Each statement takes one turn. */
export function fairLeadReads(leads: LeadStore, { costly, pages }: ReadQueues): LeadStore {
  return {
    ...leads,
    list: (selection, page) =>
      (isPlain(selection.filter) ? pages : costly).run(selection.scope.workspaceId, () =>
        leads.list(selection, page),
      ),
    // An export that has begun must not fail because of searches of its workspace.
    scan: (selection, page) =>
      costly.run(selection.scope.workspaceId, () => leads.scan(selection, page), { isPatient: true }),
    count: (selection) => costly.run(selection.scope.workspaceId, () => leads.count(selection)),
    history: (lead, ...page) => pages.run(lead.workspaceId, () => leads.history(lead, ...page)),
    changesOfEvent: (lead, version) => pages.run(lead.workspaceId, () => leads.changesOfEvent(lead, version)),
  };
}

/**
 * Returns an event log whose pages wait in the queue. Otherwise the streams of one workspace could use all connections.
 * The queue must have no other reads, because the reads of many streams would delay them.
 */
export function fairEventLog(log: EventLog, queue: FairQueue): EventLog {
  return {
    ...log,
    read: (workspaceId, after, signal) =>
      queue.run(workspaceId, () => log.read(workspaceId, after), { isPatient: true, signal }),
  };
}

/** Returns an overview store whose counts wait in a fair queue of workspaces. */
export function fairOverview(overview: OverviewStore, queue: FairQueue): OverviewStore {
  return {
    ...overview,
    count: (scope, range) => queue.run(scope.workspaceId, () => overview.count(scope, range)),
    countByCountry: (scope, span, top) =>
      queue.run(scope.workspaceId, () => overview.countByCountry(scope, span, top)),
    sumPayouts: (scope, range) => queue.run(scope.workspaceId, () => overview.sumPayouts(scope, range)),
    sumPayoutsByPublisher: (workspaceId, span, userIds) =>
      queue.run(workspaceId, () => overview.sumPayoutsByPublisher(workspaceId, span, userIds)),
    sumPayoutsByS1: (scope, span, top) =>
      queue.run(scope.workspaceId, () => overview.sumPayoutsByS1(scope, span, top)),
    countByCampaign: (scope, now, days) =>
      queue.run(scope.workspaceId, () => overview.countByCampaign(scope, now, days)),
    countPublishersByCampaign: (workspaceId, since) =>
      queue.run(workspaceId, () => overview.countPublishersByCampaign(workspaceId, since)),
    countByPublisher: (workspaceId, campaignId, since) =>
      queue.run(workspaceId, () => overview.countByPublisher(workspaceId, campaignId, since)),
  };
}

/** Returns a store whose totals share the queue. */
export function fairPayouts(payouts: PayoutStore, queue: FairQueue): PayoutStore {
  return {
    ...payouts,
    totals: (scope, range) => queue.run(scope.workspaceId, () => payouts.totals(scope, range)),
  };
}

/** Returns a store whose creations and cancellations share the queue, because each works on all leads of a payment. */
export function fairPayments(payments: PaymentStore, queue: FairQueue): PaymentStore {
  return {
    ...payments,
    create: (payment, maxLeads) => queue.run(payment.workspaceId, () => payments.create(payment, maxLeads)),
    cancel: (payment, by) => queue.run(payment.workspaceId, () => payments.cancel(payment, by)),
  };
}

/** The reads of the exports of the audit log and of payments. */
export interface ExportReads {
  readonly auditStore: Pick<AuditStore, 'list'>;
  readonly payments: Pick<PaymentStore, 'find' | 'listLeads'>;
}

/** Returns reads whose pages share the queue. An export that has begun must not fail because of searches of its workspace. */
export function fairExportReads({ auditStore, payments }: ExportReads, queue: FairQueue): ExportReads {
  return {
    auditStore: {
      list: (selection, limit, after) =>
        queue.run(selection.workspaceId, () => auditStore.list(selection, limit, after), { isPatient: true }),
    },
    payments: {
      find: payments.find,
      listLeads: (payment, limit, afterId) =>
        queue.run(payment.workspaceId, () => payments.listLeads(payment, limit, afterId), {
          isPatient: true,
        }),
    },
  };
}

function isPlain(filter: LeadFilter): boolean {
  return Object.values(filter).every((condition) => condition === undefined);
}
