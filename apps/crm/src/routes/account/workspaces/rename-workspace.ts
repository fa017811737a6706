import { WorkspaceAnswer, WorkspaceName } from '@leads/core/workspace';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that renames the workspace of the session. */
export function renameWorkspaceRoute(app: Server, { recordAction, workspaces }: CrmContext): void {
  app.patch(
    '/workspace',
    {
      config: { permission: 'renameWorkspace' },
      schema: {
        body: WorkspaceName,
        response: { 200: WorkspaceAnswer, ...errorResponses(...bodyErrors, ...sessionErrors) },
      },
    },
    async (request) => {
      const { workspaceId } = request.principal;
      const { name } = request.body;
      const workspace = await workspaces.renameWorkspace(workspaceId, name);
      await recordAction(auditOrigin(request), {
        action: 'workspace.renamed',
        scope: { workspaceId },
        details: { name },
      });
      return { success: true as const, workspace };
    },
  );
}
