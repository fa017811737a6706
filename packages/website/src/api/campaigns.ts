import type {
  CampaignChanges,
  CampaignView,
  IntegrationLink,
  LandingPageView,
  NewCampaign,
} from '@leads/core/campaign';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call, nextCursorOf, send } from './client.ts';
import { landingPagesRequest, mappedPages } from './first-requests.ts';

export const campaignsQuery = queryOptions({
  queryKey: ['campaigns'],
  queryFn: ({ signal }) => call<CampaignView[]>('/console/campaigns', { signal }),
});

export function createCampaign(body: NewCampaign): Promise<unknown> {
  return call('/console/campaigns', { method: 'POST', body });
}

export function updateCampaign(id: string, body: CampaignChanges): Promise<unknown> {
  return call(`/console/campaigns/${id}`, { method: 'PATCH', body });
}

/** The approved landing pages with or without a campaign, those that wait for approval, and the dismissed ones. */
type LandingPageKind = 'mapped' | 'unmapped' | 'pending' | 'dismissed';

const landingPageQueries = {
  mapped: mappedPages,
  unmapped: { mapped: 'false' },
  pending: { pending: 'true' },
  dismissed: { dismissed: 'true' },
} as const satisfies Record<LandingPageKind, object>;

/** Queries the landing pages of one kind, ordered by name. */
export const landingPagesQuery = (kind: LandingPageKind) =>
  listOfLandingPages([kind], landingPageQueries[kind]);

/** Queries the landing pages that are mapped to a campaign, ordered by name. */
export const landingPagesOfQuery = (campaignCode: string) =>
  listOfLandingPages(['of', campaignCode], { campaignCode });

const listOfLandingPages = (key: readonly string[], query: Readonly<Record<string, string>>) =>
  infiniteQueryOptions({
    queryKey: ['landing-pages', ...key],
    initialPageParam: undefined as string | undefined,
    async queryFn({ pageParam, signal }) {
      const { path, ...request } = landingPagesRequest({ ...query, cursor: pageParam });
      const response = await send(path, { ...request, signal });
      return {
        landingPages: (await response.json()) as LandingPageView[],
        nextCursor: nextCursorOf(response),
      };
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export function createLandingPage(body: { name: string; campaignCode?: string }): Promise<unknown> {
  return call('/console/landing-pages', { method: 'POST', body });
}

/**
 * Maps a landing page to a campaign, and approves it if it waits for approval.
 *
 * @param campaignCode the code of the campaign. Empty means no campaign.
 */
export function mapLandingPage(id: string, campaignCode: string): Promise<unknown> {
  return call(`/console/landing-pages/${id}`, { method: 'PATCH', body: { campaignCode } });
}

/** Dismisses a landing page without a campaign, or lets a dismissed one wait for approval. */
export function dismissLandingPage(id: string, dismissed: boolean): Promise<unknown> {
  return call(`/console/landing-pages/${id}/dismissal`, { method: 'POST', body: { dismissed } });
}

const linkPath = (campaignId: string) => `/console/campaigns/${campaignId}/integration-link`;

export const integrationLinkQuery = (campaignId: string) =>
  queryOptions({
    queryKey: ['integration-link', campaignId],
    queryFn: ({ signal }) => call<IntegrationLink>(linkPath(campaignId), { signal }),
  });

/** Creates a link to the campaign's integration page. The previous link stops working. */
export function renewIntegrationLink(campaignId: string): Promise<IntegrationLink> {
  return call(linkPath(campaignId), { method: 'POST', body: {} });
}

export function removeIntegrationLink(campaignId: string): Promise<IntegrationLink> {
  return call(linkPath(campaignId), { method: 'DELETE' });
}
