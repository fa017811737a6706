import { createSavedView, NewSavedView, SavedViewAnswer } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { recordSharedView } from './record-shared-view.ts';

/** Registers the route that saves a view of the lead list. */
export function createViewRoute(app: Server, context: CrmContext): void {
  app.post(
    '/views',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'createView',
        tags: ['leads'],
        summary: 'Save a view',
        description:
          'Saves filters, a sort order and columns of the lead list. Only owners and managers can share a view. A user and a workspace can have 100 views each.',
        body: NewSavedView,
        response: {
          200: SavedViewAnswer,
          ...errorResponses(...bodyErrors, 'limit_reached', ...commonErrors),
        },
      },
    },
    async (request) => {
      const view = await createSavedView(context.savedViews, request.principal, request.body);
      if (view.shared) await recordSharedView(context, request, 'view.created', view);
      return { success: true as const, view };
    },
  );
}
