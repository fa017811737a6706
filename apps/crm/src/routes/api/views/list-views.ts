import { listSavedViews, SavedView } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the saved views of the lead list. */
export function listViewsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/views',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'listViews',
        tags: ['leads'],
        summary: 'List saved views, by name',
        description:
          'A view has filters, a sort order and columns of the lead list. Owners and managers also see the shared views of the workspace. Publishers see only their own views.',
        querystring: Type.Object({}, { additionalProperties: false }),
        response: {
          200: Type.Array(SavedView, {
            description: 'The views that the caller sees, the shared ones first.',
          }),
          ...errorResponses('invalid_input', ...commonErrors),
        },
      },
    },
    (request) => listSavedViews(context.savedViews, request.principal),
  );
}
