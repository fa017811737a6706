import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import type { CampaignView } from './campaign.schema.ts';
import type { Campaign } from './campaign-store.ts';
import type { Payout } from '../payout/payout.schema.ts';

/**
 * Returns the representation of a campaign, which has assignees for owners and managers only.
 *
 * @param ownPayout the payout of the publisher that sees the campaign, in place of the campaign's.
 */
export function toCampaignView(
  campaign: Campaign,
  { role }: Pick<Principal, 'role'>,
  ownPayout?: Payout,
): CampaignView {
  const payout = ownPayout ?? campaign.payout;
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
    ...(assigneeIds.length > 0 && may(role, 'readInternals') && { assigneeIds: [...assigneeIds] }),
    ...(payout !== undefined && { payout }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
