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
 * @param idempotencyKey makes a repeat answer the lead that stands already.
 * @throws LeadsError `campaign_unavailable` when the principal's workspace has no active campaign of that code;
 *   `idempotency_key_reused` when the key made a lead of other content.
 */
export async function createLead(
  stores: { campaigns: CampaignStore; leads: LeadStore },
  principal: Principal,
  body: NewLead,
  idempotencyKey?: string,
): Promise<{ lead: Lead; extraLeftOut: number }> {
  const { workspaceId, userId } = principal;
  const id = idempotencyKey === undefined ? undefined : idempotentId(workspaceId, idempotencyKey);
  const placed = (campaignId: string) => fromNewLead(body, { id, workspaceId, userId, campaignId });
  const repeated = async () => {
    const [standing] = id === undefined ? [] : await stores.leads.find({ workspaceId }, [id]);
    if (standing === undefined) return undefined;
    const { lead, extraLeftOut } = placed(standing.campaignId);
    if (standing.contentHash?.equals(contentHash(lead, body.campaignCode)) !== true) {
      throw new LeadsError('idempotency_key_reused', {
        fields: [{ at: 'header', path: 'idempotency-key', reason: 'was sent before with other content' }],
      });
    }
    return { lead: toLead(standing), extraLeftOut };
  };

  // First of all: a repeat is answered though its campaign takes no leads any more.
  const before = await repeated();
  if (before !== undefined) return before;

  const campaign = await stores.campaigns.findByCode(workspaceId, body.campaignCode);
  if (campaign?.status !== 'active') {
    throw new LeadsError('campaign_unavailable', {
      fields: [{ at: 'body', path: '/campaignCode', reason: 'must be the code of an active campaign' }],
    });
  }
  const { lead, extraLeftOut } = placed(campaign.id);
  const sent: StoredLead =
    id === undefined ? lead : { ...lead, contentHash: contentHash(lead, body.campaignCode) };
  const added = await stores.leads.insert(
    [{ ...sent, duplicateWindowSeconds: campaign.duplicateWindowSeconds }],
    workspaceId,
  );
  const stored = added.get(sent.id);
  if (stored !== undefined) return { lead: toLead(stored), extraLeftOut };

  // Another request of the same key was first.
  const meanwhile = await repeated();
  if (meanwhile === undefined) throw new Error('A lead was neither added nor there');
  return meanwhile;
}
