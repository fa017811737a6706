import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { findLead } from '../lead/get-lead.ts';
import type { LeadStore } from '../lead/lead-store.ts';
import type { LeadEvent } from './lead-event.schema.ts';
import { toLeadEvent } from './lead-event.ts';

/**
 * Returns the event of the current version of a lead.
 *
 * @throws LeadsError `not_found` for a lead that does not exist or that the principal cannot see.
 */
export async function getCurrentEvent(
  leads: LeadStore,
  principal: Principal,
  leadId: string,
): Promise<LeadEvent> {
  const lead = await findLead(leads, principal, leadId);
  const changes = lead.version === 1 ? [] : await leads.history(lead, lead.version - 1, 1);
  const event = toLeadEvent(lead, changes, lead.version);
  if (event === undefined) throw new LeadsError('not_found');
  return event;
}
