import { deletePostback, PostbackAnswer } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { postbackDetails } from '../../../deliveries/postback-details.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that deletes a postback. */
export function deletePostbackRoute(app: Server, context: CrmContext): void {
  app.delete(
    '/postbacks/:id',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'deletePostback',
        tags: ['postbacks'],
        summary: 'Delete a postback',
        description:
          'Nothing more is sent to it. Its log is deleted, too. Publishers see and change only postbacks of their own; owners and managers also those of the workspace.',
        params: idPath('postback'),
        response: { 200: PostbackAnswer, ...errorResponses(...bodyErrors, 'not_found', ...commonErrors) },
      },
    },
    async (request) => {
      const { principal, params } = request;
      const postback = await deletePostback(context.postbacks, principal, params.id);
      await context.recordAction(auditOrigin(request), {
        action: 'postback.deleted',
        scope: principal,
        targetId: postback.id,
        details: postbackDetails(postback),
      });
      return { success: true as const, postback };
    },
  );
}
