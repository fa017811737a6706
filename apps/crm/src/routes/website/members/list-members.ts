import { MemberView } from '@leads/core/workspace';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the members of the workspace, oldest first. Publishers have no access to it. */
export function listMembersRoute(app: Server, { workspaces }: CrmContext): void {
  app.get(
    '/members',
    {
      config: { permission: 'readMembers' },
      schema: { response: { 200: Type.Array(MemberView), ...errorResponses(...sessionErrors) } },
    },
    async ({ principal }) => {
      const members = await workspaces.listMembers(principal.workspaceId);
      return members.map(({ id, user, role, createdAt }) => ({
        id,
        userId: user.id,
        name: user.name,
        email: user.email,
        role,
        createdAt: createdAt.toISOString(),
      }));
    },
  );
}
