import { KeyUsage, readKeyUsage } from '@leads/core/request-log';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that returns the requests of an API key by day: of all members for owners and managers. */
export function getApiKeyUsageRoute(app: Server, { requestLogStore }: CrmContext): void {
  app.get(
    '/api-keys/:id/usage',
    {
      config: { permission: 'member' },
      schema: {
        params: idPath('API key'),
        response: { 200: KeyUsage, ...errorResponses('not_found', ...sessionErrors) },
      },
    },
    ({ params, principal }) => readKeyUsage(requestLogStore, principal, params.id),
  );
}
