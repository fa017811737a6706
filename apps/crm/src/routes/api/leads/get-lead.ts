import { getLead, LeadDetail } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { etagHeader, etagOf } from './lead-version.ts';

/** Registers the route that returns one lead with all of its fields. */
export function getLeadRoute(app: Server, context: CrmContext): void {
  app.get(
    '/order/leads/:id',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'getLead',
        tags: ['leads'],
        summary: 'Get one lead',
        description: 'Returns the lead with all of its fields. `ETag` contains its version.',
        params: idPath('lead'),
        response: {
          200: { ...LeadDetail, headers: { ETag: etagHeader } },
          ...errorResponses('bad_request', 'not_found', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const lead = await getLead(context.leads, request.principal, request.params.id);
      reply.header('etag', etagOf(lead));
      return lead;
    },
  );
}
