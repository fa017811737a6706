import { getLeadJob, LeadJobAnswer } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that returns a job with its progress. */
export function getJobRoute(app: Server, context: CrmContext): void {
  app.get(
    '/jobs/:id',
    {
      config: { permission: 'runJobs', scope: 'leads:read' },
      schema: {
        operationId: 'getJob',
        tags: ['leads'],
        summary: 'Read a job and its progress',
        description: 'Requires the role owner or manager.',
        params: idPath('job'),
        response: { 200: LeadJobAnswer, ...errorResponses('invalid_input', 'not_found', ...commonErrors) },
      },
    },
    async ({ principal, params }) => ({
      success: true as const,
      job: await getLeadJob(context.leadJobs, principal, params.id),
    }),
  );
}
