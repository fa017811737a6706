import { requireScope } from '@leads/core/credential';
import { previewWebhook, WebhookPreview, WebhookPreviewAnswer } from '@leads/core/delivery';
import { getLeadEvent } from '@leads/core/event';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that shows the request of a webhook for a lead. */
export function previewWebhookRoute(app: Server, context: CrmContext): void {
  app.post(
    '/webhooks/preview',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'previewWebhook',
        tags: ['webhooks'],
        summary: 'Show the request of a webhook for a lead',
        description:
          'Returns the request for the newest event of the lead. It is not sent. Requires the role owner or manager. The key also needs the scope `leads:read`.',
        body: WebhookPreview,
        response: {
          200: WebhookPreviewAnswer,
          ...errorResponses(...bodyErrors, 'not_found', ...commonErrors),
        },
      },
    },
    async ({ principal, body }) => {
      requireScope(principal, 'leads:read');
      const readEvent = (leadId: string) => getLeadEvent(context.leads, principal, leadId);
      return {
        success: true as const,
        request: await previewWebhook(readEvent, context.webhookSettings, body),
      };
    },
  );
}
