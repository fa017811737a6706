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
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'resendDelivery',
        tags: ['deliveries'],
        summary: 'Send a delivery again',
        description:
          'Sends the delivery at once, whatever its state. A webhook gets the event as it happened, with the `webhook-id` that it had. A postback gets the status of the delivery, even if the lead has a newer one. A disabled webhook or postback is answered with 409. Publishers see only deliveries to postbacks of their own; owners and managers also those to the webhooks and the postbacks of the workspace.',
        params: idPath('delivery'),
        response: {
          200: DeliveryAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      delivery: await resendDelivery(context.deliveries, principal, params.id),
    }),
  );
}
