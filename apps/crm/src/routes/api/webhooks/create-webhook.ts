import { createWebhook, NewWebhook, WebhookShown } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { webhookDetails } from '../../../deliveries/webhook-details.ts';

/** Registers the route that creates a webhook. */
export function createWebhookRoute(app: Server, context: CrmContext): void {
  app.post(
    '/webhooks',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'createWebhook',
        tags: ['webhooks'],
        summary: 'Create a webhook',
        description:
          'The response contains the secret that signs the requests. It is not shown again. The URL must have the scheme https and a public address, unless the operator allows others. Requires the role owner or manager.',
        body: NewWebhook,
        response: {
          200: WebhookShown,
          ...errorResponses(...bodyErrors, 'conflict', 'limit_reached', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, body } = request;
      const created = await createWebhook(context.webhooks, context.webhookSettings, principal, body);
      await context.recordAction(auditOrigin(request), {
        action: 'webhook.created',
        scope: principal,
        targetId: created.webhook.id,
        details: webhookDetails(created.webhook),
      });
      return { success: true as const, ...created };
    },
  );
}
