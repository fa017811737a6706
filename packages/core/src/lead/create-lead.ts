import type { CampaignCodes } from '../campaign/campaign-codes.ts';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { contentHash, earlierId, keyOwnerOf, keyReused, leadIdFor, outcomeOfRepeat } from './idempotency.ts';
import type { Lead, NewLead } from './lead.schema.ts';
import { fromNewLead, toLead } from './lead.ts';
import type { LeadDraft, LeadStore, LeadToInsert } from './lead-store.ts';
import type { LeadSink } from './submit-lead.ts';

/**
 * Creates a lead in the campaign of the given code (specification, 4.1).
 *
 * @param stores.sink stores the lead.
 * @param stores.leads finds the lead of a repeated request.
 * @param idempotencyKey makes a repeated request return the existing lead.
 * @throws LeadsError `campaign_unavailable` if the principal's workspace has no active campaign with that code;
 *   `idempotency_key_reused` if the key was used for a lead with different content; others as {@link LeadSink.take} does.
 */
export async function createLead(
  { campaigns, leads, sink }: { campaigns: CampaignCodes; leads: Pick<LeadStore, 'find'>; sink: LeadSink },
  principal: Principal,
  body: NewLead,
  idempotencyKey?: string,
): Promise<{ lead: Lead; extraLeftOut: number }> {
  const { workspaceId, userId } = principal;
  const owner = keyOwnerOf(principal);
  const campaign = await campaigns.findActive(workspaceId, body.campaignCode);
  const { lead, extraLeftOut } = fromNewLead(body, {
    id: leadIdFor(owner, idempotencyKey),
    workspaceId,
    userId,
    campaignId: campaign?.id ?? '',
  });
  const sent: LeadDraft = lead;
  if (idempotencyKey !== undefined) {
    sent.contentHash = contentHash(lead, body.campaignCode);
    sent.earlierId = earlierId(owner, idempotencyKey);
  }
  if (campaign !== undefined) {
    sent.duplicateWindowSeconds = campaign.duplicateWindowSeconds;
    sent.approveAfterSeconds = campaign.approveAfterSeconds;
    sent.actingWorkspaceId = workspaceId;
  }

  // A repeated request succeeds even if the campaign is no longer active.
  const outcome = campaign === undefined ? await findRepeated(leads, sent) : await sink.take(sent);
  if (outcome.result === 'added') return { lead: toLead(outcome.lead), extraLeftOut };
  const id = outcome.result === 'repeated' ? outcome.id : sent.id;
  const [existing] = await leads.find({ workspaceId }, [id]);
  if (existing === undefined) throw new Error('The lead was not inserted, and no lead with its id exists');
  return { lead: toLead(existing), extraLeftOut };
}

/**
 * Returns the lead that the same request stored before.
 *
 * @throws LeadsError `campaign_unavailable` if there is none; `idempotency_key_reused`.
 */
async function findRepeated(leads: Pick<LeadStore, 'find'>, sent: LeadToInsert) {
  if (sent.earlierId !== undefined) {
    const found = await leads.find({ workspaceId: sent.workspaceId }, [sent.id, sent.earlierId]);
    const outcome = outcomeOfRepeat(new Map(found.map((each) => [each.id, each])), sent);
    if (outcome?.result === 'key_reused') throw keyReused();
    if (outcome !== undefined) return outcome;
  }
  throw new LeadsError('campaign_unavailable', {
    fields: [{ at: 'body', path: '/campaignCode', reason: 'must be the code of an active campaign' }],
  });
}
