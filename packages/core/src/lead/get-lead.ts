import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { LeadDetail, LeadHistoryEntry } from './lead.schema.ts';
import { type FoundLead, toLeadDetail } from './lead.ts';
import { creationOf, toHistoryEntry } from './lead-history.ts';
import { shownChange, shownLead, visibleTo } from './lead-scope.ts';
import type { LeadStore } from './lead-store.ts';

/** The maximum number of entries in a page of a history. */
const maxHistoryEntries = 1000;

/**
 * Returns a lead with all its fields.
 *
 * @throws LeadsError `not_found` for a lead that does not exist or that the principal cannot see.
 */
export async function getLead(leads: LeadStore, principal: Principal, id: string): Promise<LeadDetail> {
  return shownLead(toLeadDetail(await findLead(leads, principal, id)), principal);
}

/** @throws LeadsError `not_found` */
export async function findLead(
  leads: Pick<LeadStore, 'find'>,
  principal: Principal,
  id: string,
): Promise<FoundLead> {
  const [lead] = uuidPattern.test(id) ? await leads.find(visibleTo(principal), [id]) : [];
  if (lead === undefined) throw new LeadsError('not_found');
  return lead;
}

/**
 * Returns the history of a lead, its creation included, oldest first.
 *
 * @param aboveVersion excludes the versions up to this one.
 * @returns the entries, and the last version of the page if there are more entries.
 * @throws LeadsError `not_found`
 */
export async function getLeadHistory(
  leads: LeadStore,
  principal: Principal,
  id: string,
  aboveVersion = 0,
): Promise<{ entries: LeadHistoryEntry[]; nextAbove?: number }> {
  const lead = await findLead(leads, principal, id);
  const entries: LeadHistoryEntry[] = aboveVersion < 1 ? [creationOf(lead)] : [];
  const limit = maxHistoryEntries - entries.length;
  const changes = await leads.history(lead, aboveVersion, limit);
  entries.push(...changes.flatMap((change) => shownChange(toHistoryEntry(change), principal) ?? []));
  const last = changes.at(-1);
  return {
    entries,
    ...(last !== undefined && last.version < lead.version && { nextAbove: last.version }),
  };
}
