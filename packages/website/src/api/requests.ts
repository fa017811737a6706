import type { KeyUsage, RequestLogPage, RequestLogQuery } from '@leads/core/request-log';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call, nextCursorOf, send } from './client.ts';

/** The services write requests every 5 s. */
const refreshMs = 3_000;

export type RequestFilter = Pick<RequestLogQuery, 'status' | 'service'>;
export type ListedRequest = RequestLogPage['requests'][number];

/** Queries the newest requests of an API key. While only the first page is loaded, it is refreshed if `isLive`. */
export const requestLogQuery = (id: string, filter: RequestFilter, isLive: boolean) =>
  infiniteQueryOptions({
    queryKey: ['requests', id, filter],
    async queryFn({ pageParam, signal }) {
      const query = { ...filter, cursor: pageParam };
      const response = await send(`/console/api-keys/${encodeURIComponent(id)}/requests`, { query, signal });
      const cursor = nextCursorOf(response);
      const page = (await response.json()) as RequestLogPage;
      return { ...page, ...(cursor !== undefined && { cursor }) };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    refetchInterval: ({ state }) => isLive && (state.data?.pages.length ?? 0) < 2 && refreshMs,
  });

/** Queries the requests of an API key by day. */
export const keyUsageQuery = (id: string) =>
  queryOptions({
    queryKey: ['usage', id],
    queryFn: ({ signal }) => call<KeyUsage>(`/console/api-keys/${encodeURIComponent(id)}/usage`, { signal }),
    refetchInterval: 15_000,
  });
