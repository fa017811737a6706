import { DeliveryQuery, listDeliveries } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { DeliveryPage } from '../deliveries/delivery-page.ts';
import { linkNextPage } from '../page-links.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that lists the deliveries of a postback. */
export function listPostbackDeliveriesRoute(app: Server, context: CrmContext): void {
  app.get(
    '/postbacks/:id/deliveries',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'listPostbackDeliveries',
        tags: ['postbacks'],
        summary: 'List the deliveries of a postback, newest first',
        description:
          'Deliveries are kept for 30 days. Those of an erased lead are deleted with it. Personal data is masked.',
        params: idPath('postback'),
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
        'postback',
        params.id,
        query,
      );
      linkNextPage(request, reply, query, nextCursor);
      return deliveries;
    },
  );
}
