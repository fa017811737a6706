import type { LeadFilter, LeadStore } from '../lead/lead-store.ts';
import type { OverviewStore } from '../overview/overview-store.ts';
import type { FairQueue } from './fair-queue.ts';

/**
 * Returns a lead store whose costly reads wait in a fair queue of workspaces: lists with a filter, counts, exports. Each
 * statement takes one turn. A page without a filter costs little and does not wait.
 */
export function fairLeadReads(leads: LeadStore, queue: FairQueue): LeadStore {
  return {
    ...leads,
    list: (selection, page) =>
      isPlain(selection.filter)
        ? leads.list(selection, page)
        : queue.run(selection.scope.workspaceId, () => leads.list(selection, page)),
    // An export that has begun must not fail because of searches of its workspace.
    scan: (selection, page) =>
      queue.run(selection.scope.workspaceId, () => leads.scan(selection, page), { isPatient: true }),
    count: (selection) => queue.run(selection.scope.workspaceId, () => leads.count(selection)),
  };
}

/** Returns an overview store whose counts wait in a fair queue of workspaces. */
export function fairOverview(overview: OverviewStore, queue: FairQueue): OverviewStore {
  return {
    ...overview,
    count: (scope, range) => queue.run(scope.workspaceId, () => overview.count(scope, range)),
  };
}

function isPlain(filter: LeadFilter): boolean {
  return Object.values(filter).every((condition) => condition === undefined);
}
