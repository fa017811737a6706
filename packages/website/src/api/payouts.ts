import type { Payout, PublisherPayout } from '@leads/core/payout';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

const payoutsPath = (campaignId: string) => `/console/campaigns/${campaignId}/payouts`;

/** Queries the payouts that publishers have in place of the payout of the campaign. */
export const publisherPayoutsQuery = (campaignId: string) =>
  queryOptions({
    queryKey: ['campaigns', 'payouts', campaignId],
    queryFn: ({ signal }) => call<PublisherPayout[]>(payoutsPath(campaignId), { signal }),
  });

export function setPublisherPayout(campaignId: string, userId: string, body: Payout): Promise<unknown> {
  return call(`${payoutsPath(campaignId)}/${userId}`, { method: 'PUT', body });
}

export function removePublisherPayout(campaignId: string, userId: string): Promise<unknown> {
  return call(`${payoutsPath(campaignId)}/${userId}`, { method: 'DELETE' });
}
