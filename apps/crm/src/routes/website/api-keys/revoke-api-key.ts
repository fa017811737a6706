import { ApiKeyRevoked, revokeOwnApiKey } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that permanently revokes one of the caller's API keys. */
export function revokeApiKeyRoute(app: Server, { credentialStore, recordAction }: CrmContext): void {
  app.delete(
    '/api-keys/:id',
    {
      config: { permission: 'member' },
      schema: {
        params: idPath('API key'),
        response: { 200: ApiKeyRevoked, ...errorResponses(...bodyErrors, 'not_found', ...sessionErrors) },
      },
    },
    async (request) => {
      const record = await revokeOwnApiKey(credentialStore, request.principal, request.params.id);
      await recordAction(auditOrigin(request), {
        action: 'api_key.revoked',
        scope: request.principal,
        targetId: record.id,
        details: { name: record.name, prefix: record.prefix },
      });
      return { success: true as const, record };
    },
  );
}
