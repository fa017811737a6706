import { LeadJob, listLeadJobs } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the jobs of the workspace. */
export function listJobsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/jobs',
    {
      config: { permission: 'runJobs', scope: 'leads:read' },
      schema: {
        operationId: 'listJobs',
        tags: ['leads'],
        summary: 'List jobs, newest first',
        description:
          'The newest 50 jobs of the workspace. A finished job is kept for 30 days. Requires the role owner or manager.',
        querystring: Type.Object({}, { additionalProperties: false }),
        response: {
          200: Type.Array(LeadJob, { description: 'The newest jobs.' }),
          ...errorResponses('invalid_input', ...commonErrors),
        },
      },
    },
    (request) => listLeadJobs(context.leadJobs, request.principal),
  );
}
