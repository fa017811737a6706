import { hasScope } from '@leads/core/credential';
import { DeliveryAnswer, getDelivery } from '@leads/core/delivery';
import { getLeadEvent } from '@leads/core/event';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that returns one delivery. */
export function getDeliveryRoute(app: Server, context: CrmContext): void {
  app.get(
    '/deliveries/:id',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'getDelivery',
        tags: ['deliveries'],
        summary: 'Get a delivery',
        description:
          'Publishers see only deliveries to postbacks of their own; owners and managers also those to the webhooks and the postbacks of the workspace.',
        params: idPath('delivery'),
        response: { 200: DeliveryAnswer, ...errorResponses('invalid_input', 'not_found', ...commonErrors) },
      },
    },
    async ({ principal, params }) => {
      const readEvent = (leadId: string, version: number) =>
        getLeadEvent(context.leads, principal, leadId, version);
      return {
        success: true as const,
        delivery: await getDelivery(
          context.deliveries,
          principal,
          params.id,
          hasScope(principal, 'leads:read') ? readEvent : undefined,
        ),
      };
    },
  );
}
