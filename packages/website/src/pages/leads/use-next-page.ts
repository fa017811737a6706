import { useEffect } from 'react';
import type { useLeadList } from './use-lead-list.ts';

/**
 * Fetches the next page of the list when the user is close to the last loaded lead.
 *
 * @param at the index of the lead that the user has reached. Undefined if it is not in the list.
 * @param ahead how many leads must follow it.
 * @param cancelRefetch whether the request replaces one that is in progress.
 */
export function useNextPage(
  { list, leads }: Pick<ReturnType<typeof useLeadList>, 'list' | 'leads'>,
  at: number | undefined,
  ahead: number,
  { cancelRefetch }: { cancelRefetch: boolean },
): void {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData, fetchNextPage } = list;
  const loaded = leads.length;
  useEffect(() => {
    if (!hasNextPage || isFetchingNextPage || isFetchNextPageError || isPlaceholderData) return;
    if (at !== undefined && at >= loaded - ahead) void fetchNextPage({ cancelRefetch });
  }, [
    hasNextPage,
    isFetchingNextPage,
    isFetchNextPageError,
    isPlaceholderData,
    fetchNextPage,
    at,
    loaded,
    ahead,
    cancelRefetch,
  ]);
}
