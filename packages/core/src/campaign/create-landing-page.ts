import type { Principal } from '../credential/principal.ts';
import type { LandingPageView, NewLandingPage } from './campaign.schema.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { LandingPageStore } from './landing-page-store.ts';
import { findCampaignToMap, toLandingPageViews } from './landing-page.ts';

/**
 * Registers a landing page in the principal's workspace, optionally mapped to a campaign.
 *
 * @throws LeadsError `conflict` if the workspace has a landing page of that name; `campaign_unavailable`.
 */
export async function createLandingPage(
  {
    campaigns,
    landingPages,
  }: { campaigns: Pick<CampaignStore, 'findByCode'>; landingPages: LandingPageStore },
  principal: Principal,
  { name, campaignCode }: NewLandingPage,
): Promise<LandingPageView> {
  const { workspaceId } = principal;
  const campaignId = await findCampaignToMap(campaigns, workspaceId, campaignCode);
  const page = await landingPages.create({ workspaceId, name, campaignId });
  const [view] = await toLandingPageViews(landingPages, principal, [page]);
  return view as LandingPageView;
}
