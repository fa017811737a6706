import type { Overview } from '@leads/core/overview';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../api/client.ts';

/** What the API says of a range of days. The last answer stays until the next one is there. */
export const overviewQuery = (range: { from: string; to: string; zone: string }) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) => call<Overview>('/console/overview', { query: range, signal }),
    placeholderData: keepPreviousData,
  });
