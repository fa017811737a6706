import type { Principal } from '../credential/principal.ts';
import type { CampaignView } from './campaign.schema.ts';
import type { Campaign } from './campaign-store.ts';

/** Returns the representation of a campaign, which has assignees for owners and managers only. */
export function toCampaignView(campaign: Campaign, { role }: Pick<Principal, 'role'>): CampaignView {
  const { id, code, name, status, isDefault, assigneeIds, createdAt, updatedAt } = campaign;
  const { duplicateWindowSeconds, approveAfterSeconds } = campaign;
  return {
    id,
    code,
    name,
    status,
    isDefault,
    ...(duplicateWindowSeconds !== undefined && { duplicateWindowSeconds }),
    ...(approveAfterSeconds !== undefined && { approveAfterSeconds }),
    ...(assigneeIds.length > 0 && role !== 'publisher' && { assigneeIds: [...assigneeIds] }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
