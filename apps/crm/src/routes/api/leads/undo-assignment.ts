import { AssignmentUndo, StatusChangeAnswer, undoAssignment } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { withTraceparent } from '@leads/http/service/trace-leads';
import type { CrmContext } from '../../../context.ts';
import { bulkAnswer } from './bulk-answer.ts';

/** Registers the route that undoes an assignment of many leads. */
export function undoAssignmentRoute(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads/assignment/undo',
    {
      config: { permission: 'undoChanges', scope: 'leads:write' },
      schema: {
        operationId: 'undoAssignment',
        tags: ['leads'],
        summary: 'Undo an assignment of many leads',
        description:
          'Restores the assignee and the call-back that each lead had before the assignment. A lead is skipped if it was changed since, or if its previous assignee is no longer owner or manager. A repeated request changes nothing. Requires the role owner or manager.',
        body: AssignmentUndo,
        response: {
          200: StatusChangeAnswer,
          ...errorResponses(...bodyErrors, 'not_found', ...commonErrors),
        },
      },
    },
    async (request) => {
      const stores = { leads: withTraceparent(context.leads, request), workspaces: context.workspaces };
      return bulkAnswer(await undoAssignment(stores, request.principal, request.body.changeId));
    },
  );
}
