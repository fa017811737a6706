import {
  IdempotencyKey,
  jobScopes,
  LeadJobAnswer,
  NewLeadJob,
  startLeadJob,
  withStatus,
} from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that starts a job for all leads that match filters. */
export function startJobRoute(app: Server, context: CrmContext): void {
  app.post(
    '/jobs',
    {
      config: { permission: 'runJobs', scope: jobScopes },
      schema: {
        operationId: 'startJob',
        tags: ['leads'],
        summary: 'Change the status or the assignee of all leads that match',
        description:
          'Changes the leads in the background, in batches and by the rules of a single change. A lead that changes meanwhile is refused or no longer matches. The job continues after a restart of the service. Its progress is at `/jobs/{id}`. A workspace can have 10 running jobs. The action `status` needs the scope `leads:status`, and `assign` needs `leads:write`. Requires the role owner or manager.',
        headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
        body: NewLeadJob,
        response: {
          200: LeadJobAnswer,
          ...errorResponses(
            ...bodyErrors,
            'reason_required',
            'idempotency_key_reused',
            'limit_reached',
            ...commonErrors,
          ),
        },
      },
    },
    async ({ principal, body, headers }) => {
      const { status, ...others } = body;
      const given =
        status === undefined
          ? others
          : await withStatus(context.statusAliases, principal, { ...others, status });
      const stores = { jobs: context.leadJobs, workspaces: context.workspaces };
      const job = await startLeadJob(stores, principal, given, headers['idempotency-key']);
      context.leadJobRunner.wake();
      return { success: true as const, job };
    },
  );
}
