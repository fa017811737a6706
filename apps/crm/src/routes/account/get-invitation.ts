import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';
import { idPath } from '../id-path.ts';

const Invitation = Type.Object({
  workspace: Type.String(),
  inviter: Type.String(),
  email: Type.String({ description: 'Whose account may accept it.' }),
  role: Type.String(),
  expiresAt: Type.String({ format: 'date-time' }),
});

/** What an invitation says to whoever holds its link, signed in or not. */
export function getInvitationRoute(app: Server, { accountStore }: CrmContext): void {
  app.get(
    '/invitations/:id',
    { schema: { params: idPath('invitation'), response: { 200: Invitation } } },
    async ({ params }) => {
      const invitation = await accountStore.findInvitation(params.id);
      if (invitation === undefined) throw new LeadsError('not_found');
      return { ...invitation, expiresAt: invitation.expiresAt.toISOString() };
    },
  );
}
