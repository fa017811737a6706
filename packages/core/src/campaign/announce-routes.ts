import type { Announce } from '../invalidation.ts';
import type { CampaignStore } from './campaign-store.ts';

/** A store of campaigns that tells all instances where leads may go elsewhere now. */
export function announceRoutes(store: CampaignStore, announce: Announce): CampaignStore {
  const announced = async <Result>(workspaceId: string, change: Promise<Result>): Promise<Result> => {
    const result = await change;
    await announce({ kind: 'routes', workspaceId });
    return result;
  };
  return {
    ...store,
    create: (campaign) => announced(campaign.workspaceId, store.create(campaign)),
    update: (workspaceId, id, decide) => announced(workspaceId, store.update(workspaceId, id, decide)),
    createLandingPage: (page) => announced(page.workspaceId, store.createLandingPage(page)),
    mapLandingPage: (workspaceId, page, campaignId) =>
      announced(workspaceId, store.mapLandingPage(workspaceId, page, campaignId)),
  };
}
