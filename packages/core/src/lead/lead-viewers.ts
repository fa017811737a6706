import { type Principal, requirePermission } from '../credential/principal.ts';
import { uuidPattern } from '../uuid.ts';
import { findLead } from './get-lead.ts';
import type { StoredLead } from './lead.ts';
import type { LeadStore } from './lead-store.ts';
import type { LeadViewer, ListedViewer } from './lead-viewer.schema.ts';

/** A user whose page was silent for longer no longer has the lead open, in milliseconds. The page reports every 5 s. */
const silentMs = 12_000;

/** The store of the users who have a lead open. */
export interface LeadViewerStore {
  /**
   * Records that a user has a lead open, and no other lead.
   *
   * @returns the other users who reported the lead within `silentMs`, sorted by name.
   */
  view(lead: Pick<StoredLead, 'id' | 'workspaceId'>, userId: string, silentMs: number): Promise<LeadViewer[]>;
  /** Returns the other users who reported any lead of the workspace within `silentMs`, sorted by name. */
  list(user: Pick<Principal, 'workspaceId' | 'userId'>, silentMs: number): Promise<ListedViewer[]>;
  /** Records that a user no longer has a lead open. */
  leave(user: Pick<Principal, 'workspaceId' | 'userId'>, leadId: string): Promise<void>;
}

/** Records that a user no longer has a lead open. An unknown id changes nothing. */
export async function leaveLead(
  viewers: LeadViewerStore,
  principal: Principal,
  leadId: string,
): Promise<void> {
  if (uuidPattern.test(leadId)) await viewers.leave(principal, leadId);
}

/** Returns the other users who have a lead of the workspace open: at most one for each user. @throws LeadsError `forbidden` */
export async function listViewers(viewers: LeadViewerStore, principal: Principal): Promise<ListedViewer[]> {
  requirePermission(principal, 'readInternals');
  return viewers.list(principal, silentMs);
}

/**
 * Records that a user has a lead open in the website.
 *
 * @returns the other users who have it open.
 * @throws LeadsError `forbidden` for a publisher; `not_found`
 */
export async function viewLead(
  { leads, viewers }: { leads: Pick<LeadStore, 'find'>; viewers: LeadViewerStore },
  principal: Principal,
  leadId: string,
): Promise<LeadViewer[]> {
  requirePermission(principal, 'readInternals');
  return viewers.view(await findLead(leads, principal, leadId), principal.userId, silentMs);
}
