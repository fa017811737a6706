import type { CampaignStore } from '../campaign/campaign-store.ts';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { contentHash, idempotentId } from './idempotency.ts';
import type { Lead, NewLead } from './lead.schema.ts';
import { fromNewLead, type StoredLead, toLead } from './lead.ts';
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
  const id = idempotencyKey === undefined ? undefined : idempotentId(workspaceId, idempotencyKey);
  const toStored = (campaignId: string) => fromNewLead(body, { id, workspaceId, userId, campaignId });
  const findRepeated = async () => {
    const [existing] = id === undefined ? [] : await stores.leads.find({ workspaceId }, [id]);
    if (existing === undefined) return undefined;
    const { lead, extraLeftOut } = toStored(existing.campaignId);
    if (existing.contentHash?.equals(contentHash(lead, body.campaignCode)) !== true) {
      throw new LeadsError('idempotency_key_reused', {
        fields: [
          { at: 'header', path: 'idempotency-key', reason: 'was already used with different content' },
        ],
      });
    }
    return { lead: toLead(existing), extraLeftOut };
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
  const sent: StoredLead =
    id === undefined ? lead : { ...lead, contentHash: contentHash(lead, body.campaignCode) };
  const added = await stores.leads.insert(
    [{ ...sent, duplicateWindowSeconds: campaign.duplicateWindowSeconds }],
    workspaceId,
  );
  const stored = added.get(sent.id);
  if (stored !== undefined) return { lead: toLead(stored), extraLeftOut };

  // A concurrent request with the same key was first.
  const meanwhile = await findRepeated();
  if (meanwhile === undefined) throw new Error('The lead was not inserted, and no lead with its id exists');
  return meanwhile;
}
