import type { CampaignView } from './campaign.schema.ts';
import type { Campaign } from './campaign-store.ts';

/** Returns the representation of a campaign. */
export function toCampaignView(campaign: Campaign): CampaignView {
  const { id, code, name, status, isDefault, duplicateWindowSeconds, createdAt, updatedAt } = campaign;
  return {
    id,
    code,
    name,
    status,
    isDefault,
    ...(duplicateWindowSeconds !== undefined && { duplicateWindowSeconds }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
