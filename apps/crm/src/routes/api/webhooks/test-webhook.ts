import { DeliveryAnswer, sendTest } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that sends a test event to a webhook. */
export function testWebhookRoute(app: Server, context: CrmContext): void {
  app.post(
    '/webhooks/:id/test',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'testWebhook',
        tags: ['webhooks'],
        summary: 'Send a test event to a webhook',
        description:
          'Queues an event of the type `webhook.test`, which has no lead. Read its delivery to see the result. A disabled webhook is answered with 409. Requires the role owner or manager.',
        params: idPath('webhook'),
        response: {
          200: DeliveryAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      delivery: await sendTest(context.deliveries, principal, 'webhook', params.id),
    }),
  );
}
