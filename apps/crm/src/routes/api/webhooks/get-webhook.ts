import { getWebhook, WebhookAnswer } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that returns one webhook. */
export function getWebhookRoute(app: Server, context: CrmContext): void {
  app.get(
    '/webhooks/:id',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'getWebhook',
        tags: ['webhooks'],
        summary: 'Get a webhook',
        description: 'Requires the role owner or manager.',
        params: idPath('webhook'),
        response: { 200: WebhookAnswer, ...errorResponses('invalid_input', 'not_found', ...commonErrors) },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      webhook: await getWebhook(context.webhooks, principal, params.id),
    }),
  );
}
