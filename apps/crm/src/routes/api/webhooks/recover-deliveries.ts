import { Recovery, RecoveryAnswer, recoverDeliveries } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that sends the missed deliveries of a webhook again. */
export function recoverDeliveriesRoute(app: Server, context: CrmContext): void {
  app.post(
    '/webhooks/:id/recover',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'recoverDeliveries',
        tags: ['webhooks'],
        summary: 'Send missed deliveries again',
        description:
          'Sends the failed and skipped deliveries of a time range again, each with the `webhook-id` that it had. A disabled webhook is answered with 409. Requires the role owner or manager.',
        params: idPath('webhook'),
        body: Recovery,
        response: {
          200: RecoveryAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const deliveries = await recoverDeliveries(context.deliveries, principal, 'webhook', params.id, body);
      await context.recordAction(auditOrigin(request), {
        action: 'webhook.recovered',
        scope: principal,
        targetId: params.id,
        details: { ...body, deliveries },
      });
      return { success: true as const, deliveries };
    },
  );
}
