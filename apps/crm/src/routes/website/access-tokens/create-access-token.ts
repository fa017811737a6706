import { AccessTokenShown, createOwnAccessToken, NewAccessToken } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that creates an access token for the caller. */
export function createAccessTokenRoute(
  app: Server,
  { accessTokens, credentialStore, recordAction }: CrmContext,
): void {
  app.post(
    '/access-tokens',
    {
      config: { permission: 'member', recentSignIn: true },
      schema: {
        body: NewAccessToken,
        response: {
          200: AccessTokenShown,
          ...errorResponses(...bodyErrors, 'limit_reached', 'confirmation_required', ...sessionErrors),
        },
      },
    },
    async (request) => {
      const means = { credentials: credentialStore, accessTokens };
      const made = await createOwnAccessToken(means, request.principal, request.body);
      await recordAction(auditOrigin(request), {
        action: 'access_token.created',
        scope: request.principal,
        targetId: made.record.id,
        details: { name: made.record.name, expiresAt: made.record.expiresAt },
      });
      return { success: true as const, ...made };
    },
  );
}
