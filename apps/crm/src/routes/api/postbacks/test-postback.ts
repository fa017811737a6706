import { DeliveryAnswer, sendTest } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that sends a test to a postback. */
export function testPostbackRoute(app: Server, context: CrmContext): void {
  app.post(
    '/postbacks/:id/test',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'testPostback',
        tags: ['postbacks'],
        summary: 'Send a test to a postback',
        description:
          'Queues a request with sample values: `s1` and most others are `test`, and the status is the first of the postback. Read the deliveries to see the result. A disabled postback is answered with 409.',
        params: idPath('postback'),
        response: {
          200: DeliveryAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      delivery: await sendTest(context.deliveries, principal, 'postback', params.id),
    }),
  );
}
