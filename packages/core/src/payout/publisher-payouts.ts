import { type Principal, requirePermission } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import { checkedPayout } from './payout.ts';
import type { Payout, PublisherPayout } from './payout.schema.ts';
import type { PayoutStore, StoredPublisherPayout } from './payout-store.ts';

/**
 * Lists the payouts of a campaign's publishers, in the order of the user ids.
 *
 * @throws LeadsError `forbidden` for a publisher; `not_found` for a campaign that the workspace does not have.
 */
export async function listPublisherPayouts(
  payouts: Pick<PayoutStore, 'list'>,
  principal: Principal,
  campaignId: string,
): Promise<PublisherPayout[]> {
  requirePermission(principal, 'managePayouts');
  const listed = uuidPattern.test(campaignId)
    ? await payouts.list(principal.workspaceId, campaignId)
    : undefined;
  if (listed === undefined) throw new LeadsError('not_found');
  return listed.map(toView);
}

/**
 * Sets the payout of a member of the workspace in a campaign. It applies to leads that become Approved from now on.
 *
 * @throws LeadsError `forbidden` for a publisher; `invalid_input` for an unknown currency; `not_found` for a campaign or a
 *   user that the workspace does not have; `limit_reached`.
 */
export async function setPublisherPayout(
  payouts: Pick<PayoutStore, 'set'>,
  principal: Principal,
  { campaignId, userId }: { readonly campaignId: string; readonly userId: string },
  payout: Payout,
): Promise<PublisherPayout> {
  requirePermission(principal, 'managePayouts');
  const checked = checkedPayout(payout, '');
  const set =
    uuidPattern.test(campaignId) && uuidPattern.test(userId)
      ? await payouts.set(principal.workspaceId, campaignId, userId, checked)
      : undefined;
  if (set === undefined) throw new LeadsError('not_found');
  return toView(set);
}

/**
 * Removes the payout of a publisher, whose leads then have the payout of the campaign.
 *
 * @returns the removed payout.
 * @throws LeadsError `forbidden` for a publisher; `not_found` if there is no such payout.
 */
export async function removePublisherPayout(
  payouts: Pick<PayoutStore, 'remove'>,
  principal: Principal,
  { campaignId, userId }: { readonly campaignId: string; readonly userId: string },
): Promise<PublisherPayout> {
  requirePermission(principal, 'managePayouts');
  const removed =
    uuidPattern.test(campaignId) && uuidPattern.test(userId)
      ? await payouts.remove(principal.workspaceId, campaignId, userId)
      : undefined;
  if (removed === undefined) throw new LeadsError('not_found');
  return toView(removed);
}

function toView({ userId, amount, currency, updatedAt }: StoredPublisherPayout): PublisherPayout {
  return { userId, amount, currency, updatedAt: updatedAt.toISOString() };
}
