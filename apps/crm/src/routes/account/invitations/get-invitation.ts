import { InvitationView } from '@leads/core/account';
import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that returns an invitation. The id in its link is the only credential. */
export function getInvitationRoute(app: Server, { accountStore }: CrmContext): void {
  app.get(
    '/invitations/:id',
    {
      config: { permission: 'public' },
      schema: {
        params: idPath('invitation'),
        response: {
          200: InvitationView,
          ...errorResponses('forbidden', 'not_found', 'unexpected', 'unavailable'),
        },
      },
    },
    async ({ params }) => {
      const invitation = await accountStore.findInvitation(params.id);
      if (invitation === undefined) throw new LeadsError('not_found');
      return { ...invitation, expiresAt: invitation.expiresAt.toISOString() };
    },
  );
}
