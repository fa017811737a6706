import type { BroadcastInvalidation } from '../invalidation.ts';
import type { CampaignStore } from './campaign-store.ts';

/** Returns a campaign store that broadcasts every change of the routes of leads. */
export function broadcastRouteChanges(store: CampaignStore, broadcast: BroadcastInvalidation): CampaignStore {
  const broadcastAfter = async <Result>(workspaceId: string, change: Promise<Result>): Promise<Result> => {
    const result = await change;
    await broadcast({ kind: 'routes', workspaceId });
    return result;
  };
  return {
    ...store,
    create: (campaign) => broadcastAfter(campaign.workspaceId, store.create(campaign)),
    update: (workspaceId, id, decide) => broadcastAfter(workspaceId, store.update(workspaceId, id, decide)),
    createLandingPage: (page) => broadcastAfter(page.workspaceId, store.createLandingPage(page)),
    mapLandingPage: (workspaceId, page, campaignId) =>
      broadcastAfter(workspaceId, store.mapLandingPage(workspaceId, page, campaignId)),
  };
}
