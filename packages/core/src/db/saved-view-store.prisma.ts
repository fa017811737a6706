import type { SavedView } from '../lead/saved-view.schema.ts';
import type { SavedViewStore, ViewScope } from '../lead/saved-views.ts';
import { requireRoom } from '../limits/caps.ts';
import { uuidPattern } from '../uuid.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

const columns = Prisma.sql`
  id, name, user_id IS NULL AS shared, filters, sort, columns, widths, created_at AS "createdAt",
  updated_at AS "updatedAt"`;

/** The views that a member sees and changes. */
function visible({ workspaceId, userId, isManager }: ViewScope): Prisma.Sql {
  const shared = isManager ? Prisma.sql` OR user_id IS NULL` : Prisma.empty;
  return Prisma.sql`workspace_id = ${workspaceId}::uuid AND (user_id = ${userId}::uuid${shared})`;
}

function toView(row: object): SavedView {
  const { createdAt, updatedAt, ...view } = withoutNulls(row as Record<string, unknown>) as unknown as Omit<
    SavedView,
    'createdAt' | 'updatedAt'
  > & { createdAt: Date; updatedAt: Date };
  return { ...view, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** Creates the store of saved views in Postgres. */
export function createSavedViewStore({ select, transaction }: Database): SavedViewStore {
  const ownerOf = (shared: boolean, { userId }: ViewScope) => (shared ? null : userId);
  const kindOf = (shared: boolean) => (shared ? 'sharedViews' : 'userViews');
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));

  return {
    create: (scope, { id, name, shared, filters, sort = null, columns: shown = null, widths }) =>
      transaction(
        async (tx) => {
          const { workspaceId } = scope;
          const userId = ownerOf(shared, scope);
          await lockWorkspace(tx, workspaceId);
          requireRoom(kindOf(shared), await tx.savedView.count({ where: { workspaceId, userId } }));
          const [row] = await tx.$queryRaw<object[]>`
            INSERT INTO saved_view (id, workspace_id, user_id, name, filters, sort, columns, widths)
            VALUES (
              ${id}::uuid, ${workspaceId}::uuid, ${userId}::uuid, ${name}, ${json(filters)}::jsonb, ${sort},
              ${shown}::text[], ${json(widths)}::jsonb
            ) RETURNING ${columns}`;
          return toView(row as object);
        },
        { workspaceId: scope.workspaceId },
      ),

    async list(scope) {
      const rows = await select<object>(
        Prisma.sql`
          SELECT ${columns} FROM saved_view WHERE ${visible(scope)} ORDER BY user_id NULLS FIRST, name, id`,
        { workspaceId: scope.workspaceId },
      );
      return rows.map(toView);
    },

    async update(scope, id, decide) {
      if (!uuidPattern.test(id)) return undefined;
      return transaction(
        async (tx) => {
          const { workspaceId } = scope;
          await lockWorkspace(tx, workspaceId);
          const [found] = await tx.$queryRaw<object[]>`
            SELECT ${columns} FROM saved_view WHERE ${visible(scope)} AND id = ${id}::uuid`;
          if (found === undefined) return undefined;
          const { name, shared, filters, sort = null, columns: shown = null, widths } = decide(toView(found));
          const userId = ownerOf(shared, scope);
          requireRoom(
            kindOf(shared),
            await tx.savedView.count({ where: { workspaceId, userId, NOT: { id } } }),
          );
          const [row] = await tx.$queryRaw<object[]>`
            UPDATE saved_view SET
              user_id = ${userId}::uuid, name = ${name}, filters = ${json(filters)}::jsonb, sort = ${sort},
              columns = ${shown}::text[], widths = ${json(widths)}::jsonb, updated_at = now()
            WHERE ${visible(scope)} AND id = ${id}::uuid RETURNING ${columns}`;
          return row && toView(row);
        },
        { workspaceId: scope.workspaceId },
      );
    },

    async remove(scope, id) {
      if (!uuidPattern.test(id)) return undefined;
      const [row] = await select<object>(
        Prisma.sql`DELETE FROM saved_view WHERE ${visible(scope)} AND id = ${id}::uuid RETURNING ${columns}`,
        { workspaceId: scope.workspaceId },
      );
      return row && toView(row);
    },
  };
}
