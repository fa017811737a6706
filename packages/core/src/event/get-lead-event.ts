import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { findLead } from '../lead/get-lead.ts';
import type { LeadStore } from '../lead/lead-store.ts';
import type { LeadEvent } from './lead-event.schema.ts';
import { toLeadEvent } from './lead-event.ts';

/**
 * Returns the event of one version of a lead, by default of its current version.
 *
 * @throws LeadsError `not_found` for a lead that does not exist or that the principal cannot see, and for a version that
 *   the lead does not have.
 */
export async function getLeadEvent(
  leads: LeadStore,
  principal: Principal,
  leadId: string,
  version?: number,
): Promise<LeadEvent> {
  const lead = await findLead(leads, principal, leadId);
  const wanted = version ?? lead.version;
  const changes = lead.version === 1 ? [] : await leads.changesOfEvent(lead, wanted);
  const event = toLeadEvent(lead, changes, wanted);
  if (event === undefined) throw new LeadsError('not_found');
  return event;
}
