import type { StatusAlias, StatusAliasesAnswer } from '@leads/core/lead';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

const path = '/console/status-aliases';

export const statusAliasesQuery = queryOptions({
  queryKey: ['status-aliases'],
  queryFn: async ({ signal }) => (await call<StatusAliasesAnswer>(path, { signal })).aliases,
});

/** Changes the list of status aliases as it is at present, because another member may have changed it meanwhile. */
export async function changeStatusAliases(
  change: (aliases: readonly StatusAlias[]) => readonly StatusAlias[],
): Promise<readonly StatusAlias[]> {
  const { aliases } = await call<StatusAliasesAnswer>(path);
  const answer = await call<StatusAliasesAnswer>(path, { method: 'PUT', body: { aliases: change(aliases) } });
  return answer.aliases;
}
