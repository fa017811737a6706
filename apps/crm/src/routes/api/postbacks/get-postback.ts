import { getPostback, PostbackAnswer } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that returns one postback. */
export function getPostbackRoute(app: Server, context: CrmContext): void {
  app.get(
    '/postbacks/:id',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'getPostback',
        tags: ['postbacks'],
        summary: 'Get a postback',
        description:
          'Publishers see and change only postbacks of their own; owners and managers also those of the workspace.',
        params: idPath('postback'),
        response: { 200: PostbackAnswer, ...errorResponses('invalid_input', 'not_found', ...commonErrors) },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      postback: await getPostback(context.postbacks, principal, params.id),
    }),
  );
}
