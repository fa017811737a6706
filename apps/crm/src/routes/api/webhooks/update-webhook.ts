import { updateWebhook, WebhookAnswer, WebhookChanges } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { webhookDetails } from '../../../deliveries/webhook-details.ts';

/** Registers the route that changes a webhook. */
export function updateWebhookRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/webhooks/:id',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'updateWebhook',
        tags: ['webhooks'],
        summary: 'Change a webhook',
        description:
          'Waiting deliveries are sent to the changed URL. Enabling a disabled webhook does not send what it has missed: see its recovery. Requires the role owner or manager.',
        params: idPath('webhook'),
        body: WebhookChanges,
        response: {
          200: WebhookAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const { webhooks, webhookSettings } = context;
      const webhook = await updateWebhook(webhooks, webhookSettings, principal, params.id, body);
      await context.recordAction(auditOrigin(request), {
        action: 'webhook.changed',
        scope: principal,
        targetId: webhook.id,
        details: { ...webhookDetails(webhook), changed: Object.keys(body).join(', ') },
      });
      return { success: true as const, webhook };
    },
  );
}
