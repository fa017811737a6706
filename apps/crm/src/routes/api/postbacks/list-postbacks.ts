import { listPostbacks, PostbackView } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists postbacks. */
export function listPostbacksRoute(app: Server, context: CrmContext): void {
  app.get(
    '/postbacks',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'listPostbacks',
        tags: ['postbacks'],
        summary: 'List postbacks, oldest first',
        description:
          'Publishers see and change only postbacks of their own; owners and managers also those of the workspace.',

        querystring: Type.Object({}, { additionalProperties: false }),
        response: {
          200: Type.Array(PostbackView, { description: 'The postbacks that the caller manages.' }),
          ...errorResponses('invalid_input', ...commonErrors),
        },
      },
    },
    (request) => listPostbacks(context.postbacks, request.principal),
  );
}
