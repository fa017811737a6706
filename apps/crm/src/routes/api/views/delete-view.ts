import { deleteSavedView, SavedViewAnswer } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { recordSharedView } from './record-shared-view.ts';

/** Registers the route that deletes a saved view. */
export function deleteViewRoute(app: Server, context: CrmContext): void {
  app.delete(
    '/views/:id',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'deleteView',
        tags: ['leads'],
        summary: 'Delete a saved view',
        description: 'Owners and managers can also delete shared views.',
        params: idPath('view'),
        response: {
          200: SavedViewAnswer,
          ...errorResponses(...bodyErrors, 'not_found', ...commonErrors),
        },
      },
    },
    async (request) => {
      const view = await deleteSavedView(context.savedViews, request.principal, request.params.id);
      if (view.shared) await recordSharedView(context, request, 'view.deleted', view);
      return { success: true as const, view };
    },
  );
}
