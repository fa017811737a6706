import { LeadDeliveryQuery, listLeadDeliveries } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { DeliveryPage } from '../deliveries/delivery-page.ts';
import { linkNextPage } from '../page-links.ts';

/** Registers the route that lists the deliveries of a lead. */
export function listLeadDeliveriesRoute(app: Server, context: CrmContext): void {
  app.get(
    '/order/leads/:id/deliveries',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'listLeadDeliveries',
        tags: ['deliveries'],
        summary: 'List the deliveries of a lead, newest first',
        description:
          'The deliveries to all webhooks and postbacks that the caller can see. Publishers see only deliveries to postbacks of their own; owners and managers also those to the webhooks and the postbacks of the workspace. Deliveries are kept for 30 days.',
        params: idPath('lead'),
        querystring: LeadDeliveryQuery,
        response: {
          200: DeliveryPage,
          ...errorResponses('invalid_input', 'invalid_cursor', 'not_found', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { principal, params, query } = request;
      const { deliveries, nextCursor } = await listLeadDeliveries(context, principal, params.id, query);
      linkNextPage(request, reply, query, nextCursor);
      return deliveries;
    },
  );
}
