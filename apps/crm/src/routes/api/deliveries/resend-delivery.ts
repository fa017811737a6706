import { DeliveryAnswer, resendDelivery } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that sends a delivery again. */
export function resendDeliveryRoute(app: Server, context: CrmContext): void {
  app.post(
    '/deliveries/:id/resend',
    {
      config: { permission: 'manager', scope: 'admin' },
      schema: {
        operationId: 'resendDelivery',
        tags: ['webhooks'],
        summary: 'Send a delivery again',
        description:
          'Sends the delivery at once, whatever its state, with the `webhook-id` that it had. The request body is the event as it happened. A disabled webhook is answered with 409. Requires the role owner or manager.',
        params: idPath('delivery'),
        response: {
          200: DeliveryAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      delivery: await resendDelivery(context.webhooks, principal, params.id),
    }),
  );
}
