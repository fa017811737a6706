import { ApiKeyShown, apiKeyDetails, rotateOwnApiKey } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that creates a replacement for one of the caller's keys. The old key is valid until revoked. */
export function rotateApiKeyRoute(app: Server, { credentialStore, recordAction }: CrmContext): void {
  app.post(
    '/api-keys/:id/rotate',
    {
      config: { permission: 'member', recentSignIn: true },
      schema: {
        params: idPath('API key'),
        response: {
          200: ApiKeyShown,
          ...errorResponses(
            ...bodyErrors,
            'limit_reached',
            'not_found',
            'conflict',
            'confirmation_required',
            ...sessionErrors,
          ),
        },
      },
    },
    async (request) => {
      const made = await rotateOwnApiKey(credentialStore, request.principal, request.params.id);
      await recordAction(auditOrigin(request), {
        action: 'api_key.rotated',
        scope: request.principal,
        targetId: made.record.id,
        details: { ...apiKeyDetails(made.record), replacesId: made.record.replacesId },
      });
      return { success: true as const, ...made };
    },
  );
}
