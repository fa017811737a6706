import { leaveLead, LeadViewer, ListedViewer, listViewers, viewLead } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/**
 * Registers the routes of the users with an open lead. A page reports every few seconds that its user has a lead open, and
 * then that the user has left it. A list requests the leads that other users have open.
 */
export function viewLeadRoutes(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads/:id/viewers',
    {
      config: { permission: 'readInternals' },
      schema: {
        params: idPath('lead'),
        response: {
          200: Type.Array(LeadViewer, { description: 'The other users who have the lead open.' }),
          ...errorResponses(...bodyErrors, 'not_found', ...sessionErrors),
        },
      },
    },
    ({ principal, params }) => viewLead(context, principal, params.id),
  );

  app.get(
    '/lead-viewers',
    {
      config: { permission: 'readInternals' },
      schema: {
        response: {
          200: Type.Array(ListedViewer, {
            description: 'The other users who have a lead of the workspace open.',
          }),
          ...errorResponses(...sessionErrors),
        },
      },
    },
    ({ principal }) => listViewers(context.viewers, principal),
  );

  app.delete(
    '/order/leads/:id/viewers',
    {
      config: { permission: 'readInternals' },
      schema: {
        params: idPath('lead'),
        response: {
          200: Type.Object({ success: Type.Literal(true) }),
          ...errorResponses('bad_request', ...sessionErrors),
        },
      },
    },
    async ({ principal, params }) => {
      await leaveLead(context.viewers, principal, params.id);
      return { success: true as const };
    },
  );
}
