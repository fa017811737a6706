import type {
  CampaignChanges,
  CampaignView,
  IntegrationLink,
  LandingPageView,
  NewCampaign,
} from '@leads/core/campaign';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call, nextCursorOf, send } from './client.ts';

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

/** How many landing pages come at once. */
const pageSize = '50';

/** Landing pages by name, those of no campaign or all others. */
export const landingPagesQuery = (mapped: boolean) =>
  infiniteQueryOptions({
    queryKey: ['landing-pages', mapped],
    initialPageParam: undefined as string | undefined,
    async queryFn({ pageParam, signal }) {
      const response = await send('/console/landing-pages', {
        query: { mapped: String(mapped), limit: pageSize, cursor: pageParam },
        signal,
      });
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

/** @param campaignCode empty for none. */
export function mapLandingPage(id: string, campaignCode: string): Promise<unknown> {
  return call(`/console/landing-pages/${id}`, { method: 'PATCH', body: { campaignCode } });
}

const linkPath = (campaignId: string) => `/console/campaigns/${campaignId}/integration-link`;

export const integrationLinkQuery = (campaignId: string) =>
  queryOptions({
    queryKey: ['integration-link', campaignId],
    queryFn: ({ signal }) => call<IntegrationLink>(linkPath(campaignId), { signal }),
  });

/** Gives the page an address; one it had leads nowhere any more. */
export function renewIntegrationLink(campaignId: string): Promise<IntegrationLink> {
  return call(linkPath(campaignId), { method: 'POST', body: {} });
}

export function removeIntegrationLink(campaignId: string): Promise<IntegrationLink> {
  return call(linkPath(campaignId), { method: 'DELETE' });
}
