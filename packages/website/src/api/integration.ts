import type { CampaignStatus } from '@leads/core/campaign';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import type { Me } from './account.ts';

/** What a publisher needs to send leads to a campaign. */
export interface Integration {
  readonly workspace: string;
  readonly campaignCode: string;
  readonly campaign: string;
  readonly status: CampaignStatus;
  readonly landingPages: readonly string[];
  readonly addresses: Me['addresses'];
}

/** @param token what the page's address ends in. */
export const integrationQuery = (token: string) =>
  queryOptions({
    queryKey: ['integration', token],
    queryFn: ({ signal }) =>
      call<Integration>(`/console/integration/${encodeURIComponent(token)}`, { signal }),
  });
