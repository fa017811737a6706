import { Recovery, RecoveryAnswer, recoverDeliveries } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that sends the missed deliveries of a postback again. */
export function recoverPostbackRoute(app: Server, context: CrmContext): void {
  app.post(
    '/postbacks/:id/recover',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'recoverPostback',
        tags: ['postbacks'],
        summary: 'Send missed deliveries of a postback again',
        description:
          'Sends the failed deliveries of a time range again, and those that were skipped while the postback was disabled. A status that a newer one has overtaken is not sent. A disabled postback is answered with 409.',
        params: idPath('postback'),
        body: Recovery,
        response: {
          200: RecoveryAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const deliveries = await recoverDeliveries(context.deliveries, principal, 'postback', params.id, body);
      await context.recordAction(auditOrigin(request), {
        action: 'postback.recovered',
        scope: principal,
        targetId: params.id,
        details: { ...body, deliveries },
      });
      return { success: true as const, deliveries };
    },
  );
}
