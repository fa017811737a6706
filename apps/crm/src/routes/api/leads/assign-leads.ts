import { AssignmentAnswer, assignLeads, LeadAssignment } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { withTraceparent } from '@leads/http/service/trace-leads';
import type { CrmContext } from '../../../context.ts';
import { bulkAnswer } from './bulk-answer.ts';

/** Registers the route that sets the assignee and the call-back of many leads. */
export function assignLeadsRoute(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads/assignment',
    {
      config: { permission: 'assignLeads', scope: 'leads:write' },
      schema: {
        operationId: 'assignLeads',
        tags: ['leads'],
        summary: 'Set the assignee and the call-back of many leads',
        description:
          'Changes each lead separately. The response contains the result of each lead. A lead that has the values already keeps its version. The `changeId` undoes the changes. Requires the role owner or manager.',
        body: LeadAssignment,
        response: { 200: AssignmentAnswer, ...errorResponses(...bodyErrors, ...commonErrors) },
      },
    },
    async (request) => {
      const stores = { leads: withTraceparent(context.leads, request), workspaces: context.workspaces };
      const { changeId, results } = await assignLeads(stores, request.principal, request.body);
      return { ...bulkAnswer(results), ...(changeId !== undefined && { changeId }) };
    },
  );
}
