import { deleteWebhook, WebhookAnswer } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { webhookDetails } from '../../../deliveries/webhook-details.ts';

/** Registers the route that deletes a webhook. */
export function deleteWebhookRoute(app: Server, context: CrmContext): void {
  app.delete(
    '/webhooks/:id',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'deleteWebhook',
        tags: ['webhooks'],
        summary: 'Delete a webhook',
        description:
          'Nothing more is sent to it. Its log is deleted, too. Requires the role owner or manager.',
        params: idPath('webhook'),
        response: { 200: WebhookAnswer, ...errorResponses(...bodyErrors, 'not_found', ...commonErrors) },
      },
    },
    async (request) => {
      const { principal, params } = request;
      const webhook = await deleteWebhook(context.webhooks, principal, params.id);
      await context.recordAction(auditOrigin(request), {
        action: 'webhook.deleted',
        scope: principal,
        targetId: webhook.id,
        details: webhookDetails(webhook),
      });
      return { success: true as const, webhook };
    },
  );
}
