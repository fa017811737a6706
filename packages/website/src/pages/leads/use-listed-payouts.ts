import type { Lead, ListedPayout } from '@leads/core/lead';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { listedPayoutQuery } from '../../api/leads.ts';

const byId = (results: readonly UseQueryResult<ListedPayout>[]): ReadonlyMap<string, ListedPayout> =>
  new Map(results.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data]])));

/** Returns the payouts of the shown leads by their ids, as far as they are loaded. */
export function useListedPayouts(shown: readonly Lead[]): ReadonlyMap<string, ListedPayout> {
  return useQueries({ queries: shown.map(listedPayoutQuery), combine: byId });
}
