import type { CampaignStore } from '../campaign/campaign-store.ts';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import type { Lead, NewLead } from './lead.schema.ts';
import { fromNewLead, toLead } from './lead.ts';
import type { LeadStore } from './lead-store.ts';

/**
 * Creates a lead in the campaign of the given code (specification, 4.1).
 *
 * @throws LeadsError `campaign_unavailable` when the principal's workspace has no active campaign of that code.
 */
export async function createLead(
  stores: { campaigns: CampaignStore; leads: LeadStore },
  principal: Principal,
  body: NewLead,
): Promise<{ lead: Lead; extraLeftOut: number }> {
  const campaign = await stores.campaigns.findByCode(principal.workspaceId, body.campaignCode);
  if (campaign?.status !== 'active') throw new LeadsError('campaign_unavailable');

  const { lead, extraLeftOut } = fromNewLead(body, {
    workspaceId: principal.workspaceId,
    userId: principal.userId,
    campaignId: campaign.id,
  });
  await stores.leads.insert([lead]);
  return { lead: toLead(lead), extraLeftOut };
}
