import { ApiKeyShown, rotateOwnApiKey } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Make a key that is to replace another of the caller's, which goes on until it is revoked. */
export function rotateApiKeyRoute(app: Server, { credentialStore }: CrmContext): void {
  app.post(
    '/api-keys/:id/rotate',
    {
      config: { permission: 'member' },
      schema: {
        params: idPath('API key'),
        response: {
          200: ApiKeyShown,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...sessionErrors),
        },
      },
    },
    async (request) => {
      const made = await rotateOwnApiKey(credentialStore, request.principal, request.params.id);
      return { success: true as const, ...made };
    },
  );
}
