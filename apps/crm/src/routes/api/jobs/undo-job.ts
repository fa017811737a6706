import { jobScopes, LeadJobAnswer, undoLeadJob } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that undoes a job. */
export function undoJobRoute(app: Server, context: CrmContext): void {
  app.post(
    '/jobs/:id/undo',
    {
      config: { permission: 'runJobs', scope: jobScopes },
      schema: {
        operationId: 'undoJob',
        tags: ['leads'],
        summary: 'Undo a job',
        description:
          'Starts a job that restores the status or the assignee that each lead had before the job. A lead that was changed since the job, or that is in a payment, is skipped and counted as refused. A repeated request returns the same job. A key needs the scope that starts such a job. Requires the role owner or manager; the role owner if the leads became Paid.',
        params: idPath('job'),
        response: {
          200: LeadJobAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', 'limit_reached', ...commonErrors),
        },
      },
    },
    async ({ principal, params }) => {
      const stores = { jobs: context.leadJobs, leads: context.leads };
      const job = await undoLeadJob(stores, principal, params.id);
      context.leadJobRunner.wake();
      return { success: true as const, job };
    },
  );
}
