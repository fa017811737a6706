import type { AuditEntryView } from '@leads/core/audit';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { nextCursorOf, openStream, send } from './client.ts';

/** The number of entries in one response. */
const pageSize = '50';

/** Queries the audit log, newest first. @param action only entries of this action. */
export const auditQuery = (action: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['audit', action],
    initialPageParam: undefined as string | undefined,
    async queryFn({ pageParam, signal }) {
      const response = await send('/console/audit', {
        query: { action, limit: pageSize, cursor: pageParam },
        signal,
      });
      return { entries: (await response.json()) as AuditEntryView[], nextCursor: nextCursorOf(response) };
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Returns the entries as a CSV file. It can be long, so that it has no time limit. @throws ApiError */
export async function auditFile(action: string | undefined): Promise<Blob> {
  const { signal } = new AbortController();
  return new Response(await openStream('/console/audit.csv', { query: { action }, signal })).blob();
}
