import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import type { CampaignChanges, CampaignView } from './campaign.schema.ts';
import { toCampaignView } from './campaign.ts';
import type { Campaign, CampaignStore, CampaignUpdate } from './campaign-store.ts';
import { checkedPayout } from '../payout/payout.ts';

/**
 * Changes a campaign of the principal's workspace. A new default replaces the previous default.
 *
 * @throws LeadsError `not_found`; `invalid_input` for a new assignee without the role owner or manager and for an unknown
 *   currency; `conflict` for a change that would leave the workspace without an active default, and for another status than
 *   `ifStatus`.
 */
export async function updateCampaign(
  {
    campaigns,
    workspaces,
  }: { campaigns: Pick<CampaignStore, 'update'>; workspaces: Pick<WorkspaceStore, 'listMembers'> },
  { workspaceId, role }: Pick<Principal, 'workspaceId' | 'role'>,
  id: string,
  { assigneeIds: givenIds, ...changes }: CampaignChanges,
): Promise<CampaignView> {
  const assigneeIds = givenIds && [...new Set(givenIds.map((userId) => userId.toLowerCase()))];
  const members = assigneeIds?.length ? await workspaces.listMembers(workspaceId) : [];
  const assignable = members.flatMap((member) => (may(member.role, 'beAssignee') ? member.user.id : []));
  const payout = changes.payout ? checkedPayout(changes.payout, '/payout') : changes.payout;
  const updated = uuidPattern.test(id)
    ? await campaigns.update(workspaceId, id, (campaign) => {
        checkAssignees(assigneeIds ?? [], [...assignable, ...campaign.assigneeIds]);
        return decideUpdate(campaign, { ...changes, payout, ...(assigneeIds && { assigneeIds }) });
      })
    : undefined;
  if (updated === undefined) throw new LeadsError('not_found');
  return toCampaignView(updated, { role });
}

/**
 * Validates the assignees. Those of the campaign stay valid, because otherwise the list could not be changed after one of
 * them has left the workspace or has become a publisher. Such an assignee gets no leads.
 */
function checkAssignees(assigneeIds: readonly string[], valid: readonly string[]): void {
  if (assigneeIds.every((userId) => valid.includes(userId))) return;
  throw new LeadsError('invalid_input', {
    fields: [{ at: 'body', path: '/assigneeIds', reason: 'must be owners or managers of the workspace' }],
  });
}

/** Validates a change. The default campaign must stay active, because an inactive default would lose leads. */
function decideUpdate(
  campaign: Campaign,
  changes: Omit<CampaignChanges, 'payout'> & Pick<CampaignUpdate, 'payout'>,
): CampaignUpdate {
  const {
    status = campaign.status,
    ifStatus,
    duplicateWindowSeconds,
    approveAfterSeconds,
    ...rest
  } = changes;
  // The campaign has the new status already if the request is a repetition whose first answer was lost.
  if (ifStatus !== undefined && ![ifStatus, changes.status].includes(campaign.status)) {
    throw new LeadsError('conflict', {
      message: `The campaign is ${campaign.status}: its status was changed meanwhile`,
    });
  }
  if (status !== 'active') {
    if (campaign.isDefault) {
      throw new LeadsError('conflict', {
        message: 'The default campaign stays active: make another one the default first',
        fields: [{ at: 'body', path: '/status', reason: 'must be active for the default campaign' }],
      });
    }
    if (rest.isDefault === true) {
      throw new LeadsError('conflict', {
        message: 'Only an active campaign can be the default',
        fields: [{ at: 'body', path: '/isDefault', reason: 'must be set on an active campaign only' }],
      });
    }
  }
  return {
    ...rest,
    status,
    ...(duplicateWindowSeconds !== undefined && {
      duplicateWindowSeconds: duplicateWindowSeconds === 0 ? null : duplicateWindowSeconds,
    }),
    ...(approveAfterSeconds !== undefined && {
      approveAfterSeconds: approveAfterSeconds === 0 ? null : approveAfterSeconds,
    }),
  };
}
