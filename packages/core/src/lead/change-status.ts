import { type Principal, requireManager } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import { concurrentChange } from './edit-lead.ts';
import type { StatusChange } from './lead.schema.ts';
import type { FoundLead } from './lead.ts';
import { visibleTo } from './lead-scope.ts';
import { checkTransition, type LeadStatus } from './lead-status.ts';
import type { LeadStore } from './lead-store.ts';

/** The result for one lead: its new version, or the error. */
type StatusResult =
  | { readonly id: string; readonly version: number }
  | { readonly id: string; readonly error: LeadsError };

/**
 * Changes the status of many leads. A lead that cannot change does not affect the others.
 *
 * @returns one result for each id, in the order given. Errors are `not_found`, `conflict`, `forbidden` and
 *   `reason_required`, as for one lead.
 * @throws LeadsError `forbidden` for a publisher.
 */
export async function changeStatuses(
  leads: LeadStore,
  principal: Principal,
  { ids, status, reason }: StatusChange & { readonly status: LeadStatus },
): Promise<StatusResult[]> {
  requireManager(principal);
  const known = await leads.find(
    visibleTo(principal),
    ids.filter((id) => uuidPattern.test(id)),
  );
  const found = new Map(known.map((lead) => [lead.id, lead]));

  const errors = new Map<string, LeadsError>();
  const allowed: FoundLead[] = [];
  for (const id of ids) {
    try {
      const lead = found.get(id);
      if (lead === undefined) throw new LeadsError('not_found');
      checkTransition(lead.status, status, { role: principal.role, reason });
      allowed.push(lead);
    } catch (error) {
      if (!(error instanceof LeadsError)) throw error;
      errors.set(id, error);
    }
  }

  const createdAt = new Date();
  const changed = await leads.change(
    principal.workspaceId,
    allowed.map((lead) => ({
      lead: { ...lead, status, version: lead.version + 1 },
      change: {
        version: lead.version + 1,
        userId: principal.userId,
        status: { from: lead.status, to: status },
        reason,
        createdAt,
      },
    })),
  );
  return ids.map((id) => {
    const version = (found.get(id)?.version ?? 0) + 1;
    if (changed.has(id)) return { id, version };
    return { id, error: errors.get(id) ?? new LeadsError('conflict', { message: concurrentChange }) };
  });
}
