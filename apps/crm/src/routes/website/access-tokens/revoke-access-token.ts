import { AccessTokenRevoked, revokeOwnAccessToken } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that permanently revokes one of the caller's access tokens. */
export function revokeAccessTokenRoute(app: Server, { credentialStore, recordAction }: CrmContext): void {
  app.delete(
    '/access-tokens/:id',
    {
      config: { permission: 'member' },
      schema: {
        params: idPath('access token'),
        response: {
          200: AccessTokenRevoked,
          ...errorResponses(...bodyErrors, 'not_found', ...sessionErrors),
        },
      },
    },
    async (request) => {
      const record = await revokeOwnAccessToken(credentialStore, request.principal, request.params.id);
      await recordAction(auditOrigin(request), {
        action: 'access_token.revoked',
        scope: request.principal,
        targetId: record.id,
        details: { name: record.name },
      });
      return { success: true as const, record };
    },
  );
}
