import { SavedViewAnswer, SavedViewChanges, updateSavedView } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { recordSharedView } from './record-shared-view.ts';

/** Registers the route that changes a saved view. */
export function updateViewRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/views/:id',
    {
      config: { permission: 'member', scope: 'admin' },
      schema: {
        operationId: 'updateView',
        tags: ['leads'],
        summary: 'Change a saved view',
        description:
          'A given field replaces the stored value. `null` removes the sort order, the columns or the widths. With `shared`, an owner or manager shares an own view, or takes a shared view as an own one.',
        params: idPath('view'),
        body: SavedViewChanges,
        response: {
          200: SavedViewAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'limit_reached', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const { view, wasShared } = await updateSavedView(context.savedViews, principal, params.id, body);
      if (view.shared || wasShared) await recordSharedView(context, request, 'view.changed', view);
      return { success: true as const, view };
    },
  );
}
