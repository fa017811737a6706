import type {
  Attention,
  CampaignFigures,
  CampaignPublishers,
  Countries,
  Overview,
  OverviewPayouts,
  PayoutsByValue,
  PublishersByCampaign,
} from '@leads/core/overview';
import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import type { OverviewRange } from './first-requests.ts';
import {
  attentionRequest,
  campaignFiguresRequest,
  overviewPayoutsRequest,
  overviewRequest,
} from './first-requests.ts';

export type { OverviewRange } from './first-requests.ts';

/** Leads arrive without a request of this page, so the counts are refreshed in this interval, in milliseconds. */
const refreshMs = 30_000;

/** The beginning of the keys of the figures of an overview. */
export const overviewKey = ['overview'];

/**
 * Queries the overview of a range, with its payouts or the error of their request. The page shows both at once, so that
 * nothing moves. The previous result stays until the next one arrives. The counts that may take seconds are not refreshed
 * while the page is open: those by country and the payouts by sub-id.
 */
export const overviewQuery = (range: OverviewRange) =>
  queryOptions({
    queryKey: [...overviewKey, range],
    async queryFn({ signal }): Promise<OverviewData> {
      const { path, ...request } = overviewRequest(range);
      const { path: payoutsPath, ...payoutsRequest } = overviewPayoutsRequest(range);
      const [overview, payouts] = await Promise.all([
        call<Overview>(path, { ...request, signal }),
        call<OverviewPayouts>(payoutsPath, { ...payoutsRequest, signal }).catch((error: Error) => error),
      ]);
      return { ...overview, payouts };
    },
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });

/** An overview with its payouts. */
export type OverviewData = Overview & { readonly payouts: OverviewPayouts | Error };

/** Queries the payouts of the publishers of an overview. */
export const overviewPublishersQuery = ({ from, to, zone }: OverviewRange, users: readonly string[]) =>
  queryOptions({
    queryKey: [...overviewKey, 'publisher-payouts', from, to, zone, ...users],
    queryFn: ({ signal }) =>
      call<PayoutsByValue>('/console/overview/publisher-payouts', {
        query: { from, to, zone, users: users.join(',') },
        signal,
      }),
    retry: false,
  });

/** Queries the payouts of the sub-ids with the most leads. They are added up from the leads, which may take seconds. */
export const subIdPayoutsQuery = ({ from, to, zone }: OverviewRange) =>
  queryOptions({
    queryKey: [...overviewKey, 'sub-id-payouts', from, to, zone],
    queryFn: ({ signal }) =>
      call<PayoutsByValue>('/console/overview/sub-id-payouts', { query: { from, to, zone }, signal }),
    retry: false,
  });

/** Queries the countries with the most leads. They are counted from the leads, which may take seconds. */
export const countriesQuery = ({ from, to, zone }: OverviewRange) =>
  queryOptions({
    queryKey: [...overviewKey, 'countries', from, to, zone],
    queryFn: ({ signal }) =>
      call<Countries>('/console/overview/countries', { query: { from, to, zone }, signal }),
    retry: false,
  });

/** Queries what needs the attention of the user. */
export const attentionQuery = queryOptions({
  queryKey: ['attention'],
  queryFn: ({ signal }) => call<Attention>(attentionRequest.path, { signal }),
  refetchInterval: refreshMs,
});

/** Queries the campaigns with the counts of their leads. Its key begins with that of the campaigns, so both are refreshed. */
export const campaignFiguresQuery = queryOptions({
  queryKey: ['campaigns', 'figures'],
  queryFn: ({ signal }) => call<CampaignFigures[]>(campaignFiguresRequest.path, { signal }),
  refetchInterval: refreshMs,
});

/** Refreshes the landing pages, and what counts them. */
export const refreshLandingPages = (queryClient: QueryClient): Promise<unknown> =>
  Promise.all(
    [['landing-pages'], campaignFiguresQuery.queryKey, attentionQuery.queryKey].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  );

/** Queries the campaigns with the counts of the leads of one user. */
export const campaignFiguresOfQuery = (user: string) =>
  queryOptions({
    queryKey: [...campaignFiguresQuery.queryKey, user],
    queryFn: ({ signal }) =>
      call<CampaignFigures[]>(campaignFiguresRequest.path, { query: { user }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });

/** Queries how many users created leads of each campaign in the last 30 days. The counts change rarely. */
export const publishersByCampaignQuery = queryOptions({
  queryKey: ['campaigns', 'publishers'],
  queryFn: ({ signal }) => call<PublishersByCampaign>('/console/campaign-publishers', { signal }),
  staleTime: 5 * 60_000,
});

/** Queries the users who created leads of a campaign in the last 30 days. */
export const campaignPublishersQuery = (campaignId: string) =>
  queryOptions({
    queryKey: ['campaigns', 'publishers', campaignId],
    queryFn: ({ signal }) =>
      call<CampaignPublishers>(`/console/campaigns/${campaignId}/publishers`, { signal }),
  });
