import type { BroadcastInvalidation } from '../invalidation.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { LandingPageStore } from './landing-page-store.ts';

/** The stores whose changes can change the route of a lead. */
interface RouteStores {
  readonly campaigns: CampaignStore;
  readonly landingPages: LandingPageStore;
}

/** Returns stores that broadcast every change of the routes of leads. */
export function broadcastRouteChanges(
  { campaigns, landingPages }: RouteStores,
  broadcast: BroadcastInvalidation,
): RouteStores {
  const broadcastAfter = async <Result>(workspaceId: string, change: Promise<Result>): Promise<Result> => {
    const result = await change;
    await broadcast({ kind: 'routes', workspaceId });
    return result;
  };
  return {
    campaigns: {
      ...campaigns,
      create: (campaign) => broadcastAfter(campaign.workspaceId, campaigns.create(campaign)),
      update: (workspaceId, id, decide) =>
        broadcastAfter(workspaceId, campaigns.update(workspaceId, id, decide)),
    },
    landingPages: {
      ...landingPages,
      create: (page) => broadcastAfter(page.workspaceId, landingPages.create(page)),
      map: (workspaceId, page, campaignId) =>
        broadcastAfter(workspaceId, landingPages.map(workspaceId, page, campaignId)),
    },
  };
}
