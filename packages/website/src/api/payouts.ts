import type { Payout, PublisherPayout, Statement, StatementQuery } from '@leads/core/payout';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call, send } from './client.ts';
import { statementRequest } from './first-requests.ts';

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

/** The key of all statements. */
export const statementsKey = ['statements'];

/** Queries the statements of a range of days. The previous result stays until the next one arrives. */
export const statementQuery = (query: StatementQuery) =>
  queryOptions({
    queryKey: [...statementsKey, query],
    queryFn({ signal }) {
      const { path, ...request } = statementRequest(query);
      return call<Statement>(path, { ...request, signal });
    },
    placeholderData: keepPreviousData,
  });

/** Returns the statements as a CSV file. */
export async function statementFile(query: StatementQuery): Promise<Blob> {
  const headers = { accept: 'text/csv, application/problem+json;q=0.9' };
  const { path, ...request } = statementRequest(query);
  return (await send(path, { ...request, headers })).blob();
}
