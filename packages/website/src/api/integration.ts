import type { IntegrationPageView } from '@leads/core/campaign';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

/** Queries an integration page. @param token the last segment of the page's address. */
export const integrationQuery = (token: string) =>
  queryOptions({
    queryKey: ['integration', token],
    queryFn: ({ signal }) =>
      call<IntegrationPageView>(`/console/integration/${encodeURIComponent(token)}`, { signal }),
  });
