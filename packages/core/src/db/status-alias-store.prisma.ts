import type { StatusAliasStore } from '../lead/status-aliases.ts';
import type { Database } from './client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

/** Creates the store of status aliases in Postgres. */
export function createStatusAliasStore({ transaction }: Database): StatusAliasStore {
  return {
    list: (workspaceId) =>
      transaction(
        async (tx) => {
          const rows = await tx.statusAlias.findMany({
            where: { workspaceId },
            select: { alias: true, status: true, reason: true },
          });
          return rows
            .map((row) => withoutNulls(row) as typeof row & { reason: string })
            .toSorted((a, b) => (a.alias < b.alias ? -1 : 1));
        },
        { workspaceId },
      ),

    replace: (workspaceId, aliases) =>
      transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          await tx.statusAlias.deleteMany({ where: { workspaceId } });
          await tx.statusAlias.createMany({
            data: aliases.map(({ alias, status, reason = null }) => ({ workspaceId, alias, status, reason })),
          });
        },
        { workspaceId },
      ),
  };
}
