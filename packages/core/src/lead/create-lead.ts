import type { CampaignStore } from '../campaign/campaign-store.ts';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import {
  contentHash,
  earlierId,
  idempotentId,
  keyOwnerOf,
  keyReused,
  outcomeOfRepeat,
} from './idempotency.ts';
import type { Lead, NewLead } from './lead.schema.ts';
import { fromNewLead, toLead } from './lead.ts';
import type { LeadStore } from './lead-store.ts';

/**
 * Creates a lead in the campaign of the given code (specification, 4.1).
 *
 * @param idempotencyKey makes a repeated request return the existing lead.
 * @throws LeadsError `campaign_unavailable` if the principal's workspace has no active campaign with that code;
 *   `idempotency_key_reused` if the key was used for a lead with different content.
 */
export async function createLead(
  stores: { campaigns: CampaignStore; leads: LeadStore },
  principal: Principal,
  body: NewLead,
  idempotencyKey?: string,
): Promise<{ lead: Lead; extraLeftOut: number }> {
  const { workspaceId, userId } = principal;
  const owner = keyOwnerOf(principal);
  const toStored = (campaignId: string) => {
    const id = idempotencyKey === undefined ? undefined : idempotentId(owner, idempotencyKey);
    const { lead, extraLeftOut } = fromNewLead(body, { id, workspaceId, userId, campaignId });
    const hash = idempotencyKey === undefined ? undefined : contentHash(lead, body.campaignCode);
    return { lead: { ...lead, contentHash: hash }, extraLeftOut };
  };
  const findRepeated = async () => {
    if (idempotencyKey === undefined) return undefined;
    const { lead, extraLeftOut } = toStored('');
    const sent = { ...lead, earlierId: earlierId(owner, idempotencyKey) };
    const found = await stores.leads.find({ workspaceId }, [sent.id, sent.earlierId]);
    const outcome = outcomeOfRepeat(new Map(found.map((each) => [each.id, each])), sent);
    if (outcome?.result === 'key_reused') throw keyReused();
    const existing = found.find(({ id }) => id === outcome?.id);
    return existing && { lead: toLead(existing), extraLeftOut };
  };

  // Checked before the campaign: a repeated request succeeds even if the campaign is no longer active.
  const before = await findRepeated();
  if (before !== undefined) return before;

  const campaign = await stores.campaigns.findByCode(workspaceId, body.campaignCode);
  if (campaign?.status !== 'active') {
    throw new LeadsError('campaign_unavailable', {
      fields: [{ at: 'body', path: '/campaignCode', reason: 'must be the code of an active campaign' }],
    });
  }
  const { lead, extraLeftOut } = toStored(campaign.id);
  const [outcome] = await stores.leads.insert(
    [{ ...lead, duplicateWindowSeconds: campaign.duplicateWindowSeconds }],
    workspaceId,
  );
  if (outcome?.result === 'added') return { lead: toLead(outcome.lead), extraLeftOut };
  if (outcome?.result === 'key_reused') throw keyReused();

  // A concurrent request with the same key was first.
  const meanwhile = await findRepeated();
  if (meanwhile === undefined) throw new Error('The lead was not inserted, and no lead with its id exists');
  return meanwhile;
}
