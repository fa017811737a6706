import type { CampaignRouter } from '../campaign/campaign-router.ts';
import type { Principal } from '../credential/principal.ts';
import { leadIdFor } from './idempotency.ts';
import type { IntakeLead } from './lead.schema.ts';
import { fromIntakeLead } from './lead.ts';
import type { LeadToInsert } from './lead-store.ts';

/** Takes leads to be stored, one at a time. */
export interface LeadSink {
  /**
   * Stores a lead, once however often it is given.
   *
   * @throws LeadsError `invalid_input` for a lead that cannot be stored; `unavailable` where none can be now.
   */
  take(lead: LeadToInsert): Promise<void>;
}

/**
 * Takes a lead from a landing page (specification, 4.3). Its campaign is the landing page's, else the API
 * key's default, else the workspace's default; a landing page not seen before is registered.
 *
 * @param ip the visitor's address.
 * @param idempotencyKey makes a repeat answer the id of the lead that stands already.
 * @returns the lead's id, the answer's `order_id`, once the lead is stored.
 */
export async function submitLead(
  { routes, leads }: { routes: CampaignRouter; leads: LeadSink },
  principal: Principal,
  body: IntakeLead,
  ip: string,
  idempotencyKey?: string,
): Promise<{ id: string; extraLeftOut: number }> {
  const { workspaceId, userId, defaultCampaignId } = principal;
  const found = routes.find(workspaceId, body.lp_name, defaultCampaignId);
  const { campaignId, duplicateWindowSeconds } = found instanceof Promise ? await found : found;
  const id = leadIdFor(workspaceId, idempotencyKey);
  const { lead, extraLeftOut } = fromIntakeLead(body, { id, workspaceId, userId, campaignId }, ip);
  await leads.take(duplicateWindowSeconds === undefined ? lead : { ...lead, duplicateWindowSeconds });
  return { id, extraLeftOut };
}
