import { toCampaignView } from '../campaign/campaign.ts';
import type { CampaignStore } from '../campaign/campaign-store.ts';
import type { LandingPageStore } from '../campaign/landing-page-store.ts';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import type { PayoutStore } from '../payout/payout-store.ts';
import { type Viewer, visibleTo } from '../lead/lead-scope.ts';
import type { CampaignFigures, CampaignPublishers, PublishersByCampaign } from './campaign-figures.schema.ts';
import type { OverviewStore } from './overview-store.ts';
import { nothing, summaryOf } from './summary.ts';

const dayMs = 86_400_000;
/** The days of the small chart of each campaign. */
const chartDays = 14;
const publisherDays = 30;

interface Stores {
  readonly campaigns: Pick<CampaignStore, 'list'>;
  readonly landingPages: Pick<LandingPageStore, 'countByCampaign'>;
  readonly overview: Pick<OverviewStore, 'countByCampaign'>;
  readonly payouts: Pick<PayoutStore, 'ofUser'>;
}

/**
 * Lists all campaigns of the principal's workspace, oldest first, with the counts of the leads that it may see. A
 * publisher sees its own payouts only.
 *
 * @param user only the leads of this user are counted.
 * @throws LeadsError `forbidden` if a publisher names another user.
 */
export async function listCampaignFigures(
  { campaigns, landingPages, overview, payouts }: Stores,
  principal: Viewer,
  user?: string,
  now = new Date(),
): Promise<CampaignFigures[]> {
  const scope = visibleTo(principal);
  if (user !== undefined && scope.userId !== undefined && user !== scope.userId)
    throw new LeadsError('forbidden');
  const [listed, counted, pages, own] = await Promise.all([
    campaigns.list(scope.workspaceId),
    overview.countByCampaign({ ...scope, userId: user ?? scope.userId }, now, chartDays),
    scope.userId === undefined ? landingPages.countByCampaign(scope.workspaceId) : undefined,
    scope.userId === undefined ? undefined : payouts.ofUser(scope.workspaceId, scope.userId),
  ]);
  const countsOf = new Map(counted.map((counts) => [counts.campaignId, counts]));
  return listed.map((campaign) => {
    const counts = countsOf.get(campaign.id);
    return Object.assign(toCampaignView(campaign, principal, own?.get(campaign.id)), {
      ...summaryOf(counts?.total ?? nothing),
      days: [...(counts?.days ?? Array.from({ length: chartDays }, () => 0))],
      ...(counts?.lastLeadAt !== undefined && { lastLeadAt: counts.lastLeadAt.toISOString() }),
      ...(pages !== undefined && { landingPages: pages.get(campaign.id) ?? 0 }),
    });
  });
}

/**
 * Lists the users who created leads of a campaign in the last 30 days, with the most leads first.
 *
 * @throws LeadsError `not_found` if the workspace has no such campaign.
 */
export async function listCampaignPublishers(
  {
    campaigns,
    overview,
  }: {
    readonly campaigns: Pick<CampaignStore, 'list'>;
    readonly overview: Pick<OverviewStore, 'countByPublisher'>;
  },
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  campaignId: string,
  now = new Date(),
): Promise<CampaignPublishers> {
  const campaign = (await campaigns.list(workspaceId)).find(({ id }) => id === campaignId);
  if (campaign === undefined) throw new LeadsError('not_found');
  const from = publishersSince(now);
  const publishers = await overview.countByPublisher(workspaceId, campaign.id, from);
  return {
    from: from.toISOString(),
    publishers: publishers.map((counts) =>
      Object.assign(summaryOf(counts), { value: counts.value, name: counts.name }),
    ),
  };
}

/** Counts the users who created leads of each campaign of a workspace in the last 30 days. */
export function countPublishersByCampaign(
  { overview }: { readonly overview: Pick<OverviewStore, 'countPublishersByCampaign'> },
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  now = new Date(),
): Promise<PublishersByCampaign> {
  return overview.countPublishersByCampaign(workspaceId, publishersSince(now));
}

/** Returns the start of the days (UTC) in which publishers are counted. */
function publishersSince(now: Date): Date {
  return new Date((Math.floor(now.getTime() / dayMs) - publisherDays + 1) * dayMs);
}
