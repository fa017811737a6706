import { RequestLogPage, RequestLogQuery, readRequestLog } from '@leads/core/request-log';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { linkHeader, linkNextPage } from '../../api/page-links.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that lists the newest requests of an API key: of all members for owners and managers. */
export function listApiKeyRequestsRoute(app: Server, { requestLogStore }: CrmContext): void {
  app.get(
    '/api-keys/:id/requests',
    {
      config: { permission: 'member' },
      schema: {
        params: idPath('API key'),
        querystring: RequestLogQuery,
        response: {
          200: { ...RequestLogPage, headers: { Link: linkHeader } },
          ...errorResponses('invalid_input', 'invalid_cursor', 'not_found', ...sessionErrors),
        },
      },
    },
    async (request, reply) => {
      const { params, principal, query } = request;
      const { page, nextCursor } = await readRequestLog(requestLogStore, principal, params.id, query);
      linkNextPage(request, reply, query, nextCursor);
      return page;
    },
  );
}
