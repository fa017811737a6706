import type { IntegrationPageView } from '@leads/core/campaign';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

/** @param token what the page's address ends in. */
export const integrationQuery = (token: string) =>
  queryOptions({
    queryKey: ['integration', token],
    queryFn: ({ signal }) =>
      call<IntegrationPageView>(`/console/integration/${encodeURIComponent(token)}`, { signal }),
  });
