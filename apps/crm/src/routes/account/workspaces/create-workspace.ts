import { openWorkspace, WorkspaceAnswer, WorkspaceName } from '@leads/core/workspace';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that creates a workspace. The caller becomes its owner. */
export function createWorkspaceRoute(app: Server, { recordAction, workspaces }: CrmContext): void {
  app.post(
    '/workspaces',
    {
      config: { permission: 'signedIn' },
      schema: {
        body: WorkspaceName,
        response: {
          200: WorkspaceAnswer,
          ...errorResponses(...bodyErrors, 'limit_reached', ...sessionErrors),
        },
      },
    },
    async (request) => {
      const { name } = request.body;
      const { workspace } = await openWorkspace(workspaces, request.signedIn.user, name);
      await recordAction(auditOrigin(request), {
        action: 'workspace.created',
        scope: { workspaceId: workspace.id },
        details: { name },
      });
      return { success: true as const, workspace };
    },
  );
}
