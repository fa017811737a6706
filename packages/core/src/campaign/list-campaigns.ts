import type { Principal } from '../credential/principal.ts';
import type { CampaignQuery, CampaignView } from './campaign.schema.ts';
import { toCampaignView } from './campaign.ts';
import type { CampaignStore } from './campaign-store.ts';

/** Lists the campaigns of the principal's workspace, optionally of one status, oldest first. */
export async function listCampaigns(
  campaigns: Pick<CampaignStore, 'list'>,
  { workspaceId, role }: Pick<Principal, 'workspaceId' | 'role'>,
  { status }: CampaignQuery,
): Promise<CampaignView[]> {
  return (await campaigns.list(workspaceId, status)).map((campaign) => toCampaignView(campaign, { role }));
}
