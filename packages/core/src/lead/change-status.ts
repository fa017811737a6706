import { type Principal, requireManager } from '../credential/principal.ts';
import { type ChangeResult, changeEach } from './change-each.ts';
import type { StatusChange } from './lead.schema.ts';
import { checkTransition, type LeadStatus } from './lead-status.ts';
import type { LeadStore } from './lead-store.ts';

/**
 * Changes the status of many leads, as {@link changeEach} does.
 *
 * @returns one result for each id, in the order given. Errors are `not_found`, `conflict`, `forbidden` and
 *   `reason_required`, as for one lead.
 * @throws LeadsError `forbidden` for a publisher.
 */
export async function changeStatuses(
  leads: LeadStore,
  principal: Principal,
  { ids, status, reason }: StatusChange & { readonly status: LeadStatus },
): Promise<ChangeResult[]> {
  requireManager(principal);
  return changeEach(leads, principal, ids, (lead) => {
    checkTransition(lead.status, status, { role: principal.role, reason });
    return { values: { status }, status: { from: lead.status, to: status }, reason };
  });
}
