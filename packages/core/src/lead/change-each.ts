import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { FoundLead } from './lead.ts';
import { visibleTo } from './lead-scope.ts';
import type { LeadAfterChange, LeadChange, LeadStore } from './lead-store.ts';

/** The message for a change that fails because of a concurrent change. */
export const concurrentChange = 'The lead was changed by a concurrent request';

/** The result for one lead: its version after the request, or the error. */
export type ChangeResult =
  | { readonly id: string; readonly version: number }
  | { readonly id: string; readonly error: LeadsError };

/** The new values of a lead, and what its history shows of them. */
export type Decision = { readonly values: Partial<FoundLead> } & Pick<
  LeadChange,
  'status' | 'reason' | 'fields' | 'requestId' | 'bulkId'
>;

/**
 * Changes many leads. A lead that cannot change does not affect the others. A change of the status ends the hold of a lead.
 *
 * @param decide returns the change of a lead; undefined if the lead already has the new values.
 * @param given the ids, in upper or lower case.
 * @returns one result for each id, in the order and the spelling given. Errors are `not_found`, `conflict` for a concurrent
 *   change and for another spelling of an id before, and the LeadsErrors of `decide`.
 */
export async function changeEach(
  leads: Pick<LeadStore, 'find' | 'change'>,
  principal: Principal,
  given: readonly string[],
  decide: (lead: FoundLead) => Decision | undefined,
): Promise<ChangeResult[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  const known = await leads.find(
    visibleTo(principal),
    ids.filter((id) => uuidPattern.test(id)),
  );
  const found = new Map(known.map((lead) => [lead.id, lead]));

  const errors = new Map<string, LeadsError>();
  const unchanged = new Set<string>();
  const changes: Parameters<LeadStore['change']>[1][number][] = [];
  const createdAt = new Date();
  for (const id of ids) {
    try {
      const lead = found.get(id);
      if (lead === undefined) throw new LeadsError('not_found');
      const decision = decide(lead);
      if (decision === undefined) {
        unchanged.add(id);
        continue;
      }
      const { values, ...change } = withEndOfHold(lead, decision);
      const version = lead.version + 1;
      changes.push({
        lead: { ...lead, ...values, version },
        change: { ...change, version, userId: principal.userId, createdAt },
      });
    } catch (error) {
      if (!(error instanceof LeadsError)) throw error;
      errors.set(id, error);
    }
  }

  const changed =
    changes.length === 0
      ? new Map<string, LeadAfterChange>()
      : await leads.change(principal.workspaceId, changes);
  const answered = new Set<string>();
  return given.map((id) => {
    const stored = id.toLowerCase();
    if (answered.has(stored)) {
      return { id, error: new LeadsError('conflict', { message: 'The id is given twice' }) };
    }
    answered.add(stored);
    const version = found.get(stored)?.version ?? 0;
    if (unchanged.has(stored)) return { id, version };
    if (changed.has(stored)) return { id, version: version + 1 };
    return { id, error: errors.get(stored) ?? new LeadsError('conflict', { message: concurrentChange }) };
  });
}

/** Adds the end of the hold to a change of the status of a held lead. */
function withEndOfHold({ holdReason }: FoundLead, decision: Decision): Decision {
  if (decision.status === undefined || holdReason === undefined) return decision;
  return {
    ...decision,
    values: { ...decision.values, holdReason: undefined },
    fields: { ...decision.fields, holdReason: { from: holdReason } },
  };
}
