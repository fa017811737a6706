import type { Principal } from '../credential/principal.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { type Lead, type LeadQuery, pageLimit } from './lead.schema.ts';
import { toLead } from './lead.ts';
import type { LeadScope, LeadStore } from './lead-store.ts';

/** Owners and managers see the leads of their workspace, a publisher only its own. */
function visibleTo(principal: Principal): LeadScope {
  return principal.role === 'publisher'
    ? { workspaceId: principal.workspaceId, userId: principal.userId }
    : { workspaceId: principal.workspaceId };
}

/**
 * One page of the leads a principal may see, newest first (specification, 4.2).
 *
 * @returns the page, and the cursor of the next one where there is one.
 * @throws LeadsError `invalid_cursor` for a cursor of another list or of no list at all.
 */
export async function listLeads(
  leads: LeadStore,
  principal: Principal,
  query: LeadQuery,
): Promise<{ leads: Lead[]; nextCursor?: string }> {
  const scope = visibleTo(principal);
  const limit = query.limit === undefined ? pageLimit.default : Number(query.limit);
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, scope);

  // One row beyond the page tells whether there is a next one.
  const rows = await leads.list(scope, limit + 1, after);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    leads: page.map(toLead),
    ...(rows.length > limit && last !== undefined && { nextCursor: encodeCursor(last, scope) }),
  };
}
