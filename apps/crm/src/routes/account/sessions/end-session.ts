import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that ends one of the caller's sessions. It takes effect immediately. */
export function endSessionRoute(app: Server, { accountStore, recordAction }: CrmContext): void {
  app.delete(
    '/sessions/:id',
    {
      config: { permission: 'signedIn' },
      schema: {
        params: idPath('session'),
        response: {
          200: Type.Object({ success: Type.Literal(true) }),
          ...errorResponses(...bodyErrors, 'not_found', ...sessionErrors),
        },
      },
    },
    async (request) => {
      const userId = request.signedIn.user.id;
      const targetId = request.params.id;
      if (!(await accountStore.endSession(userId, targetId))) throw new LeadsError('not_found');
      await recordAction(auditOrigin(request), { action: 'session.ended', scope: { userId }, targetId });
      return { success: true as const };
    },
  );
}
