import type { Lead } from '@leads/core/lead';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { type ColumnValues, columnValuesQuery } from '../../api/leads.ts';

const byId = (results: readonly UseQueryResult<ColumnValues>[]): ReadonlyMap<string, ColumnValues> =>
  new Map(results.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data]])));

/** Returns further columns of the shown leads by their ids, as far as they are loaded. */
export function useColumnValues(shown: readonly Lead[]): ReadonlyMap<string, ColumnValues> {
  return useQueries({ queries: shown.map(columnValuesQuery), combine: byId });
}
