import { requireScope } from '@leads/core/credential';
import { PostbackPreview, PostbackPreviewAnswer, previewPostback } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { getLeadEvent } from '@leads/core/event';

/** Registers the route that renders templates with a lead. */
export function previewPostbackRoute(app: Server, context: CrmContext): void {
  app.post(
    '/postbacks/preview',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'previewPostback',
        tags: ['postbacks'],
        summary: 'Render the templates of a postback with a lead',
        description:
          'Returns the request of the current version of the lead. It is not sent. The key also needs the scope `leads:read`.',

        body: PostbackPreview,
        response: {
          200: PostbackPreviewAnswer,
          ...errorResponses(...bodyErrors, 'not_found', ...commonErrors),
        },
      },
    },
    async ({ principal, body }) => {
      requireScope(principal, 'leads:read');
      const readEvent = (leadId: string) => getLeadEvent(context.leads, principal, leadId);
      const { webhookSettings } = context;
      return {
        success: true as const,
        request: await previewPostback(readEvent, webhookSettings, principal, body),
      };
    },
  );
}
