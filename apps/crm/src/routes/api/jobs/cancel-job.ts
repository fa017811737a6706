import { cancelLeadJob, jobScopes, LeadJobAnswer } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that cancels a job. */
export function cancelJobRoute(app: Server, context: CrmContext): void {
  app.delete(
    '/jobs/:id',
    {
      config: { permission: 'runJobs', scope: jobScopes },
      schema: {
        operationId: 'cancelJob',
        tags: ['leads'],
        summary: 'Cancel a job',
        description:
          'The job stops after the batch in progress. Changed leads stay changed. A finished job stays as it is. A key needs the scope that starts such a job. Requires the role owner or manager.',
        params: idPath('job'),
        response: { 200: LeadJobAnswer, ...errorResponses(...bodyErrors, 'not_found', ...commonErrors) },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      job: await cancelLeadJob(context.leadJobs, principal, params.id),
    }),
  );
}
