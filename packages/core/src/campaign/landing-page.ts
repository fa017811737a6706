import { LeadsError } from '../errors.ts';
import { type Viewer, visibleTo } from '../lead/lead-scope.ts';
import type { LandingPageView } from './campaign.schema.ts';
import type { CampaignStore } from './campaign-store.ts';
import type { LandingPage, LandingPageStore } from './landing-page-store.ts';

/** The limits of leads to examine for counts: of one landing page, and of all landing pages together. */
const counted = { ofOne: 100_000, together: 1_000_000 } as const;

/** Returns the representations of landing pages. Each has the number of its leads that the viewer may see. */
export async function toLandingPageViews(
  landingPages: Pick<LandingPageStore, 'countLeads'>,
  viewer: Viewer,
  pages: readonly LandingPage[],
): Promise<LandingPageView[]> {
  if (pages.length === 0) return [];
  const counts = await landingPages.countLeads(
    visibleTo(viewer),
    pages.map(({ name }) => name),
    Math.min(counted.ofOne, Math.floor(counted.together / pages.length)),
  );
  return pages.map(
    ({ id, name, campaignId, campaignCode, pendingSince, dismissedAt, createdAt, updatedAt }) => {
      const count = counts.get(name);
      const view: LandingPageView = {
        id,
        name,
        leads: count?.leads ?? 0,
        createdAt: createdAt.toISOString(),
        updatedAt: updatedAt.toISOString(),
      };
      if (count?.isTruncated === true) view.leadsTruncated = true;
      if (campaignId !== undefined) view.campaignId = campaignId;
      if (campaignCode !== undefined) view.campaignCode = campaignCode;
      if (pendingSince !== undefined) view.pendingSince = pendingSince.toISOString();
      if (dismissedAt !== undefined) view.dismissedAt = dismissedAt.toISOString();
      return view;
    },
  );
}

/**
 * Finds the campaign to map a landing page to. It may be paused, so that landing pages can be prepared before the campaign
 * starts.
 *
 * @param code the code of the campaign; empty or `undefined` for no campaign.
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
      fields: [
        { at: 'body', path: '/campaignCode', reason: 'must be the code of a campaign that is not archived' },
      ],
    });
  }
  return campaign.id;
}
