import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import type { CampaignQuery, CampaignView } from './campaign.schema.ts';
import { toCampaignView } from './campaign.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { PayoutStore } from '../payout/payout-store.ts';

/**
 * Lists the campaigns of the principal's workspace, optionally of one status, oldest first. A publisher sees its own
 * payouts only.
 */
export async function listCampaigns(
  { campaigns, payouts }: { campaigns: Pick<CampaignStore, 'list'>; payouts: Pick<PayoutStore, 'ofUser'> },
  { workspaceId, userId, role }: Pick<Principal, 'workspaceId' | 'userId' | 'role'>,
  { status }: CampaignQuery,
): Promise<CampaignView[]> {
  const listed = await campaigns.list(workspaceId, status);
  const own = may(role, 'readAllLeads') ? undefined : await payouts.ofUser(workspaceId, userId);
  return listed.map((campaign) => toCampaignView(campaign, { role }, own?.get(campaign.id)));
}
