import { changeStatuses, StatusChange, StatusChangeAnswer, withStatus } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { withTraceparent } from '@leads/http/service/trace-leads';
import type { CrmContext } from '../../../context.ts';
import { bulkAnswer } from './bulk-answer.ts';

/** Registers the route that changes the status of many leads. */
export function changeStatusesRoute(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads/status',
    {
      config: { permission: 'changeStatuses', scope: 'leads:status' },
      schema: {
        operationId: 'changeStatuses',
        tags: ['leads'],
        summary: 'Change the status of many leads',
        description:
          'Changes each lead separately, by the rules of a single change. The response contains the result of each lead. Requires the role owner or manager.',
        body: StatusChange,
        response: { 200: StatusChangeAnswer, ...errorResponses(...bodyErrors, ...commonErrors) },
      },
    },
    async (request) => {
      const { principal } = request;
      const change = await withStatus(context.statusAliases, principal, request.body);
      const results = await changeStatuses(withTraceparent(context.leads, request), principal, change);
      return bulkAnswer(results, { status: change.status });
    },
  );
}
