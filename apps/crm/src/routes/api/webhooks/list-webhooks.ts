import { listWebhooks, WebhookView } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the webhooks of the caller's workspace. */
export function listWebhooksRoute(app: Server, context: CrmContext): void {
  app.get(
    '/webhooks',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'listWebhooks',
        tags: ['webhooks'],
        summary: 'List webhooks, oldest first',
        description: 'Requires the role owner or manager.',
        querystring: Type.Object({}, { additionalProperties: false }),
        response: {
          200: Type.Array(WebhookView, { description: 'All webhooks of the workspace.' }),
          ...errorResponses('invalid_input', ...commonErrors),
        },
      },
    },
    (request) => listWebhooks(context.webhooks, request.principal),
  );
}
