import { LeadsError } from '../errors.ts';
import { type Viewer, visibleTo } from '../lead/lead-scope.ts';
import type { LandingPageView } from './campaign.schema.ts';
import type { CampaignStore, LandingPage } from './campaign-store.ts';

/** How many leads are looked at to count those of landing pages: of one page at most, and of all together. */
const counted = { ofOne: 100_000, together: 1_000_000 } as const;

/** The representations of landing pages, each with how many of the leads that the viewer may see came by it. */
export async function toLandingPageViews(
  campaigns: Pick<CampaignStore, 'countLeads'>,
  viewer: Viewer,
  pages: readonly LandingPage[],
): Promise<LandingPageView[]> {
  if (pages.length === 0) return [];
  const counts = await campaigns.countLeads(
    visibleTo(viewer),
    pages.map(({ name }) => name),
    Math.min(counted.ofOne, Math.floor(counted.together / pages.length)),
  );
  return pages.map(({ id, name, campaignId, campaignCode, createdAt, updatedAt }) => {
    const view: LandingPageView = {
      id,
      name,
      leads: counts.get(name) ?? 0,
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    };
    if (campaignId !== undefined) view.campaignId = campaignId;
    if (campaignCode !== undefined) view.campaignCode = campaignCode;
    return view;
  });
}

/**
 * The campaign that a landing page is to be mapped to: active or paused, so that pages can be prepared for one
 * that is yet to begin.
 *
 * @param code empty or `undefined` for none.
 * @throws LeadsError `campaign_unavailable`
 */
export async function findCampaignToMap(
  campaigns: Pick<CampaignStore, 'findByCode'>,
  workspaceId: string,
  code: string | undefined,
): Promise<string | undefined> {
  if (code === undefined || code === '') return undefined;
  const campaign = await campaigns.findByCode(workspaceId, code);
  if (campaign === undefined || campaign.status === 'archived') {
    throw new LeadsError('campaign_unavailable', {
      fields: [{ at: 'body', path: '/campaignCode', reason: 'must be of a campaign that is not archived' }],
    });
  }
  return campaign.id;
}
