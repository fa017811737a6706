import { memberRoles } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmConfig } from '../../../config.ts';
import type { CrmContext } from '../../../context.ts';
import { publicUrlOf } from '../../../public-url.ts';

const Invitation = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: Type.Enum([...memberRoles]),
  link: Type.String({ description: 'Where it can be accepted, with an account of that address.' }),
  createdAt: Type.String({ format: 'date-time' }),
  expiresAt: Type.String({ format: 'date-time' }),
});

/** List the invitations to the workspace that nobody has answered yet, newest first. */
export function listInvitationsRoute(app: Server, { accountStore }: CrmContext, config: CrmConfig): void {
  app.get(
    '/invitations',
    { schema: { response: { 200: Type.Array(Invitation) } } },
    async ({ principal }) => {
      const invitations = await accountStore.listInvitations(principal.workspaceId);
      return invitations.map(({ id, email, role, createdAt, expiresAt }) => ({
        id,
        email,
        role,
        link: `${publicUrlOf(config)}/invitations/${id}`,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      }));
    },
  );
}
