import { getLeadHistory, LeadHistoryEntry } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { linkHeader, linkPages } from '../page-links.ts';

const HistoryQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,9}$',
        'x-integer': { minimum: 0, maximum: 999_999_999 },
        'x-reason': 'must be a version number',
        description: 'Omits the versions up to this one.',
        examples: ['1'],
      }),
    ),
  },
  { additionalProperties: false },
);

/** Registers the route that returns the history of one lead. */
export function getLeadHistoryRoute(app: Server, context: CrmContext): void {
  app.get(
    '/order/leads/:id/history',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'getLeadHistory',
        tags: ['leads'],
        summary: 'Get the history of one lead',
        description:
          'Lists every change of the lead, beginning with its creation: the user, the time, the fields, the old and new status, and the reason. A page has up to 1000 entries, and fewer if they have more than 2 MiB. The `Link` header contains the URL of the next page.',
        params: idPath('lead'),
        querystring: HistoryQuery,
        response: {
          200: Type.Array(LeadHistoryEntry, {
            description: 'The history, oldest first.',
            headers: { Link: linkHeader },
          }),
          ...errorResponses('invalid_input', 'not_found', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { after } = request.query;
      const { entries, nextAbove } = await getLeadHistory(
        context.leads,
        request.principal,
        request.params.id,
        after === undefined ? 0 : Number(after),
      );
      if (nextAbove !== undefined) linkPages(request, reply, { next: { after: String(nextAbove) } });
      return entries;
    },
  );
}
