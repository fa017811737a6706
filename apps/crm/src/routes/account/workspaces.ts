import { openWorkspace, WorkspaceName } from '@leads/core/workspace';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';

const Named = Type.Object({
  success: Type.Literal(true),
  workspace: Type.Object({ id: Type.String(), name: Type.String() }),
});

/** Make another workspace, of which the caller is the owner. */
export function createWorkspaceRoute(app: Server, { workspaces }: CrmContext): void {
  app.post(
    '/workspaces',
    { schema: { body: WorkspaceName, response: { 200: Named } } },
    async ({ signedIn, body }) => {
      const { workspace } = await openWorkspace(workspaces, signedIn.user, body.name);
      return { success: true as const, workspace };
    },
  );
}

/** Rename the workspace that the website shows. */
export function renameWorkspaceRoute(app: Server, { workspaces }: CrmContext): void {
  app.patch(
    '/workspace',
    { schema: { body: WorkspaceName, response: { 200: Named } } },
    async ({ principal, body }) => {
      await workspaces.renameWorkspace(principal.workspaceId, body.name);
      return { success: true as const, workspace: { id: principal.workspaceId, name: body.name } };
    },
  );
}
