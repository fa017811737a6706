import { getLead, LeadDetail } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { etagHeader, etagOf } from './lead-version.ts';

/** Everything about one lead. */
export function getLeadRoute(app: Server, context: CrmContext): void {
  app.get(
    '/order/leads/:id',
    {
      config: { permission: 'member' },
      schema: {
        operationId: 'getLead',
        tags: ['leads'],
        summary: 'Look up one lead',
        description: 'Everything that is stored of the lead. Its version is in `ETag`.',
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
