import { DeliveryAnswer, getDelivery } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that returns one delivery. */
export function getDeliveryRoute(app: Server, context: CrmContext): void {
  app.get(
    '/deliveries/:id',
    {
      config: { permission: 'manager', scope: 'admin' },
      schema: {
        operationId: 'getDelivery',
        tags: ['webhooks'],
        summary: 'Get a delivery',
        description: 'Requires the role owner or manager.',
        params: idPath('delivery'),
        response: { 200: DeliveryAnswer, ...errorResponses('invalid_input', 'not_found', ...commonErrors) },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      delivery: await getDelivery(context.webhooks, principal, params.id),
    }),
  );
}
