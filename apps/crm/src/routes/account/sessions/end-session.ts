import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that ends one of the caller's sessions. It takes effect immediately. */
export function endSessionRoute(app: Server, { accountStore }: CrmContext): void {
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
    async ({ signedIn, params }) => {
      if (!(await accountStore.endSession(signedIn.user.id, params.id))) throw new LeadsError('not_found');
      return { success: true as const };
    },
  );
}
