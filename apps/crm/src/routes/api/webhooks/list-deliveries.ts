import { DeliveryQuery, listDeliveries } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { DeliveryPage } from '../deliveries/delivery-page.ts';
import { linkNextPage } from '../page-links.ts';

/** Registers the route that lists the deliveries of a webhook. */
export function listDeliveriesRoute(app: Server, context: CrmContext): void {
  app.get(
    '/webhooks/:id/deliveries',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'listDeliveries',
        tags: ['webhooks'],
        summary: 'List the deliveries of a webhook, newest first',
        description:
          'Deliveries are kept for 30 days. Those of an erased lead are deleted with it. Requires the role owner or manager.',
        params: idPath('webhook'),
        querystring: DeliveryQuery,
        response: {
          200: DeliveryPage,
          ...errorResponses('invalid_input', 'invalid_cursor', 'not_found', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { principal, params, query } = request;
      const { deliveries, nextCursor } = await listDeliveries(
        context.deliveries,
        principal,
        'webhook',
        params.id,
        query,
      );
      linkNextPage(request, reply, query, nextCursor);
      return deliveries;
    },
  );
}
