import type { Overview } from '@leads/core/overview';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../api/client.ts';

/** Queries the overview of a range. The previous result stays until the next one arrives. */
export const overviewQuery = (range: { from: string; to: string; zone: string }) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) => call<Overview>('/console/overview', { query: range, signal }),
    placeholderData: keepPreviousData,
  });
