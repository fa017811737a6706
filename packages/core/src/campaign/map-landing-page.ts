import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { LandingPageMapping, LandingPageView } from './campaign.schema.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { LandingPageStore } from './landing-page-store.ts';
import { findCampaignToMap, toLandingPageViews } from './landing-page.ts';

/**
 * Maps a landing page of the principal's workspace to a campaign, or unmaps it. Existing leads stay in their campaigns.
 *
 * @throws LeadsError `not_found`; `campaign_unavailable`.
 */
export async function mapLandingPage(
  {
    campaigns,
    landingPages,
  }: { campaigns: Pick<CampaignStore, 'findByCode'>; landingPages: LandingPageStore },
  principal: Principal,
  id: string,
  { campaignCode }: LandingPageMapping,
): Promise<LandingPageView> {
  if (!uuidPattern.test(id)) throw new LeadsError('not_found');
  const { workspaceId } = principal;
  const campaignId = await findCampaignToMap(campaigns, workspaceId, campaignCode);
  const page = await landingPages.map(workspaceId, { id }, campaignId);
  if (page === undefined) throw new LeadsError('not_found');
  const [view] = await toLandingPageViews(landingPages, principal, [page]);
  return view as LandingPageView;
}
