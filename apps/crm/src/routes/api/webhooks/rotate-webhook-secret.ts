import { rotateWebhookSecret, SecretRotation, WebhookShown } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { webhookDetails } from '../../../deliveries/webhook-details.ts';

/** Registers the route that replaces the secret of a webhook. */
export function rotateWebhookSecretRoute(app: Server, context: CrmContext): void {
  app.post(
    '/webhooks/:id/rotate-secret',
    {
      config: { permission: 'manageEndpoints', scope: 'admin' },
      schema: {
        operationId: 'rotateWebhookSecret',
        tags: ['webhooks'],
        summary: 'Rotate the secret of a webhook',
        description:
          'The response contains the new secret. It is not shown again. During the overlap, each request has a signature for each of the two secrets. Requires the role owner or manager.',
        params: idPath('webhook'),
        body: SecretRotation,
        response: {
          200: WebhookShown,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const { webhooks, webhookSettings } = context;
      const rotated = await rotateWebhookSecret(webhooks, webhookSettings, principal, params.id, body);
      await context.recordAction(auditOrigin(request), {
        action: 'webhook.secret_rotated',
        scope: principal,
        targetId: rotated.webhook.id,
        details: webhookDetails(rotated.webhook),
      });
      return { success: true as const, ...rotated };
    },
  );
}
