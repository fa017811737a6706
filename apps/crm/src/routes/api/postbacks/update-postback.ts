import { PostbackAnswer, PostbackChanges, updatePostback } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { postbackDetails } from '../../../deliveries/postback-details.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that changes a postback. */
export function updatePostbackRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/postbacks/:id',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'updatePostback',
        tags: ['postbacks'],
        summary: 'Change a postback',
        description:
          'Waiting deliveries are rendered from the changed templates. Enabling a disabled postback does not send what it has missed: see its recovery. Publishers see and change only postbacks of their own; owners and managers also those of the workspace.',
        params: idPath('postback'),
        body: PostbackChanges,
        response: { 200: PostbackAnswer, ...errorResponses(...bodyErrors, 'not_found', ...commonErrors) },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const { postbacks, webhookSettings } = context;
      const postback = await updatePostback(postbacks, webhookSettings, principal, params.id, body);
      await context.recordAction(auditOrigin(request), {
        action: 'postback.changed',
        scope: principal,
        targetId: postback.id,
        details: { ...postbackDetails(postback), changed: Object.keys(body).join(', ') },
      });
      return { success: true as const, postback };
    },
  );
}
