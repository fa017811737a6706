import { createPostback, NewPostback, PostbackAnswer } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { postbackDetails } from '../../../deliveries/postback-details.ts';

/** Registers the route that creates a postback. */
export function createPostbackRoute(app: Server, context: CrmContext): void {
  app.post(
    '/postbacks',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'createPostback',
        tags: ['postbacks'],
        summary: 'Create a postback',
        description:
          'Sends a request for each change of a lead into one of the statuses, rendered from the templates. The URL must have the scheme https and a public address, unless the operator allows others. Publishers can have only postbacks for their own leads, without personal data.',

        body: NewPostback,
        response: {
          200: PostbackAnswer,
          ...errorResponses(...bodyErrors, 'conflict', 'limit_reached', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, body } = request;
      const { postbacks, webhookSettings } = context;
      const postback = await createPostback(postbacks, webhookSettings, principal, body);
      await context.recordAction(auditOrigin(request), {
        action: 'postback.created',
        scope: principal,
        targetId: postback.id,
        details: postbackDetails(postback),
      });
      return { success: true as const, postback };
    },
  );
}
