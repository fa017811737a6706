import { memberRoles } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

const Member = Type.Object({
  id: Type.String({ description: 'Identifier of the membership.' }),
  userId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: Type.Enum([...memberRoles]),
  createdAt: Type.String({ format: 'date-time' }),
});

/** List the members of the workspace, oldest first. Publishers do not see each other. */
export function listMembersRoute(app: Server, { workspaces }: CrmContext): void {
  app.get('/members', { schema: { response: { 200: Type.Array(Member) } } }, async ({ principal }) => {
    const members = await workspaces.listMembers(principal.workspaceId);
    return members.map(({ id, user, role, createdAt }) => ({
      id,
      userId: user.id,
      name: user.name,
      email: user.email,
      role,
      createdAt: createdAt.toISOString(),
    }));
  });
}
