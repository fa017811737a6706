import { ApiKeyShown, apiKeyDetails, createOwnApiKey, NewApiKey } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that creates an API key for the caller. */
export function createApiKeyRoute(
  app: Server,
  { campaigns, credentialStore, recordAction }: CrmContext,
): void {
  app.post(
    '/api-keys',
    {
      config: { permission: 'member', recentSignIn: true },
      schema: {
        body: NewApiKey,
        response: {
          200: ApiKeyShown,
          ...errorResponses(
            ...bodyErrors,
            'limit_reached',
            'campaign_unavailable',
            'confirmation_required',
            ...sessionErrors,
          ),
        },
      },
    },
    async (request) => {
      const stores = { credentials: credentialStore, campaigns };
      const made = await createOwnApiKey(stores, request.principal, request.body);
      await recordAction(auditOrigin(request), {
        action: 'api_key.created',
        scope: request.principal,
        targetId: made.record.id,
        details: apiKeyDetails(made.record),
      });
      return { success: true as const, ...made };
    },
  );
}
