import type { Principal } from '../credential/principal.ts';
import type { CampaignView, NewCampaign } from './campaign.schema.ts';
import { toCampaignView } from './campaign.ts';
import type { CampaignStore } from './campaign-store.ts';

/**
 * Creates an active campaign in the principal's workspace, optionally as its default.
 *
 * @throws LeadsError `conflict` if the workspace has a campaign of that code.
 */
export async function createCampaign(
  campaigns: Pick<CampaignStore, 'create'>,
  { workspaceId, role }: Pick<Principal, 'workspaceId' | 'role'>,
  { code, name, duplicateWindowSeconds = 0, approveAfterSeconds = 0, isDefault = false }: NewCampaign,
): Promise<CampaignView> {
  const campaign = await campaigns.create({
    workspaceId,
    code,
    name,
    isDefault,
    duplicateWindowSeconds: duplicateWindowSeconds === 0 ? undefined : duplicateWindowSeconds,
    approveAfterSeconds: approveAfterSeconds === 0 ? undefined : approveAfterSeconds,
  });
  return toCampaignView(campaign, { role });
}
