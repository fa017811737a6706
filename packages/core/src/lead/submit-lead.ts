import type { CampaignRouter } from '../campaign/campaign-router.ts';
import type { Principal } from '../credential/principal.ts';
import { earlierId, intakeContentHash, keyOwnerOf, leadIdFor } from './idempotency.ts';
import type { StoredOutcome } from './insert-each.ts';
import type { IntakeLead } from './lead.schema.ts';
import { fromIntakeLead } from './lead.ts';
import type { LeadDraft, LeadToInsert } from './lead-store.ts';

/** Accepts leads to store, one at a time. */
export interface LeadSink {
  /**
   * Stores a lead. A lead that is given again is not stored again.
   *
   * @returns once the lead is committed. The id of a repeated lead differs from the id of the given lead only if it was
   *   derived by an earlier release.
   * @throws LeadsError `invalid_input` if the database rejects the lead; `idempotency_key_reused` if a lead with the id
   *   and other content is stored; `unavailable` if no lead can be stored now.
   */
  take(lead: LeadToInsert): Promise<StoredOutcome>;
}

/**
 * Accepts a lead from a landing page (specification, 4.3). Its campaign is the landing page's, or else the API key's
 * default, or else the workspace's default. A new landing page is registered.
 *
 * @param ip the visitor's address.
 * @param idempotencyKey makes a repeated request return the id of the existing lead.
 * @returns the id of the lead, which is the `order_id` of the response, once the lead is stored.
 * @throws LeadsError as {@link LeadSink.take} does.
 */
export async function submitLead(
  { routes, leads }: { routes: CampaignRouter; leads: LeadSink },
  principal: Principal,
  body: IntakeLead,
  ip: string,
  idempotencyKey?: string,
): Promise<{ id: string; extraLeftOut: number }> {
  const { workspaceId, userId, apiKeyId, defaultCampaignId } = principal;
  const found = routes.find(workspaceId, body.lp_name, defaultCampaignId, apiKeyId);
  const { campaignId, duplicateWindowSeconds, approveAfterSeconds } =
    found instanceof Promise ? await found : found;
  const owner = keyOwnerOf(principal);
  const id = leadIdFor(owner, idempotencyKey);
  const { lead, extraLeftOut } = fromIntakeLead(body, { id, workspaceId, userId, campaignId }, ip);
  const placed: LeadDraft = lead;
  if (duplicateWindowSeconds !== undefined) placed.duplicateWindowSeconds = duplicateWindowSeconds;
  if (approveAfterSeconds !== undefined) placed.approveAfterSeconds = approveAfterSeconds;
  if (idempotencyKey !== undefined) {
    placed.contentHash = intakeContentHash(lead);
    placed.earlierId = earlierId(owner, idempotencyKey);
  }
  const outcome = await leads.take(placed);
  return { id: outcome.result === 'repeated' ? outcome.id : id, extraLeftOut };
}
