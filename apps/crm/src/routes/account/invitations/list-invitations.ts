import { PendingInvitationView } from '@leads/core/account';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmConfig } from '../../../config.ts';
import type { CrmContext } from '../../../context.ts';
import { publicUrlOf } from '../../../public-url.ts';

/** Registers the route that lists the pending invitations to the workspace, newest first. */
export function listInvitationsRoute(app: Server, { accountStore }: CrmContext, config: CrmConfig): void {
  app.get(
    '/invitations',
    {
      config: { permission: 'manageMembers' },
      schema: { response: { 200: Type.Array(PendingInvitationView), ...errorResponses(...sessionErrors) } },
    },
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
