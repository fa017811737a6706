import { type Principal, requirePermission } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { type ChangeResult, changeEach, concurrentChange } from './change-each.ts';
import type { StatusChange } from './lead.schema.ts';
import { checkTransition, type LeadStatus } from './lead-status.ts';
import type { LeadStore } from './lead-store.ts';

/**
 * Changes the status of many leads, as {@link changeEach} does.
 *
 * @param change.from the status in which the caller has read all leads. A lead with another status is a `conflict`.
 * @param options.expected the statuses in which the caller has found leads, by id. A lead with another status is a `conflict`.
 * @param options.bulkId the id by which the changes can be undone together.
 * @returns one result for each id, in the order given. Errors are `not_found`, `conflict`, `forbidden` and
 *   `reason_required`, as for one lead.
 * @throws LeadsError `forbidden` for a publisher.
 */
export async function changeStatuses(
  leads: LeadStore,
  principal: Principal,
  { ids, status, from, reason }: StatusChange & { readonly status: LeadStatus },
  { expected, bulkId }: { expected?: ReadonlyMap<string, LeadStatus>; bulkId?: string } = {},
): Promise<ChangeResult[]> {
  requirePermission(principal, 'changeStatuses');
  return changeEach(leads, principal, ids, (lead) => {
    if ((expected?.get(lead.id) ?? lead.status) !== lead.status) {
      throw new LeadsError('conflict', { message: concurrentChange });
    }
    if (from !== undefined && from !== lead.status) {
      throw new LeadsError('conflict', {
        message: `The lead was changed meanwhile: it is ${lead.status} now, not ${from}`,
      });
    }
    checkTransition(lead.status, status, { role: principal.role, reason });
    return { values: { status }, status: { from: lead.status, to: status }, reason, bulkId };
  });
}
