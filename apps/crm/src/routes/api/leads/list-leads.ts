import { Lead, LeadQuery, listLeads } from '@leads/core/lead';
import { preferredType } from '@leads/http/server/accept';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { linkHeader, linkPages } from '../page-links.ts';
import { type ExportType, exportContent, exportHeaders, exportTypes, sendExport } from './export-leads.ts';

const types = ['application/json', ...(Object.keys(exportTypes) as ExportType[])] as const;

/** Registers the route that lists the leads that the caller may see (specification, 4.2). */
export function listLeadsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/order/leads',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'listLeads',
        tags: ['leads'],
        summary: 'List leads, newest first',
        description:
          'Owners and managers see the leads of their workspace. A publisher sees its own leads. A lead must match all given filters. The `Link` header contains the URLs of the next and the previous page (RFC 8288, `rel="next"` and `rel="prev"`). The last page has no next page. A page has fewer leads than `limit` if they have more than 2 MiB. With `Accept: text/csv` or `Accept: application/x-ndjson`, the response contains every matching lead with all of its fields. An export does not accept `limit`, `cursor` and `count`.',
        querystring: LeadQuery,
        response: {
          200: {
            description: 'One page of leads, or all matching leads as a file.',
            headers: {
              Link: linkHeader,
              'X-Total-Count': {
                description: 'The number of matching leads. Sent with `count=exact`.',
                type: 'integer',
              },
              ...exportHeaders,
            },
            content: {
              'application/json': { schema: Type.Array(Lead, { description: 'One page of leads.' }) },
              ...exportContent,
            },
          },
          ...errorResponses('invalid_input', 'invalid_cursor', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { query, principal } = request;
      const type = preferredType(request.headers.accept, types);
      if (type !== 'application/json') {
        return sendExport(reply, { context, principal, query, type });
      }
      const page = await listLeads(context.leads, principal, query);
      reply.header('vary', 'Accept');
      linkPages(request, reply, {
        ...(page.nextCursor !== undefined && { next: { ...query, cursor: page.nextCursor } }),
        ...(page.prevCursor !== undefined && { prev: { ...query, cursor: page.prevCursor } }),
      });
      if (page.totalCount !== undefined) reply.header('x-total-count', page.totalCount);
      return sendJson(reply, page.json);
    },
  );
}

/** Sends JSON as the store writes it. Parsing and serializing it again would take as long as reading it. */
function sendJson(reply: FastifyReply, json: Buffer): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json);
}
