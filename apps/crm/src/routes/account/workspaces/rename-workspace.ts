import { WorkspaceAnswer, WorkspaceName } from '@leads/core/workspace';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that renames the workspace of the session. */
export function renameWorkspaceRoute(app: Server, { workspaces }: CrmContext): void {
  app.patch(
    '/workspace',
    {
      config: { permission: 'owner' },
      schema: {
        body: WorkspaceName,
        response: { 200: WorkspaceAnswer, ...errorResponses(...bodyErrors, ...sessionErrors) },
      },
    },
    async ({ principal, body }) => {
      await workspaces.renameWorkspace(principal.workspaceId, body.name);
      return { success: true as const, workspace: { id: principal.workspaceId, name: body.name } };
    },
  );
}
