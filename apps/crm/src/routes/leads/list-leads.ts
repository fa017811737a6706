import { Lead, LeadQuery, listLeads } from '@leads/core/lead';
import { commonErrors, errorResponses } from '@leads/http/errors';
import type { Server } from '@leads/http/server';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';

/** List the leads the caller may see (specification, 4.2). */
export function listLeadsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/api/v1/order/leads',
    {
      schema: {
        operationId: 'listLeads',
        tags: ['leads'],
        summary: 'List leads, newest first',
        description:
          'Owners and managers see the leads of their workspace, a publisher its own. The next page is in the `Link` header (RFC 8288, `rel="next"`); without one, this page is the last.',
        querystring: LeadQuery,
        response: {
          200: Type.Array(Lead, {
            description: 'One page of leads.',
            headers: {
              Link: { description: 'The next page, `rel="next"` (RFC 8288).', schema: { type: 'string' } },
            },
          }),
          ...errorResponses('invalid_input', 'invalid_cursor', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { leads, nextCursor } = await listLeads(context.leads, request.principal, request.query);
      if (nextCursor !== undefined) {
        reply.header('link', `<${nextPage(request, { ...request.query, cursor: nextCursor })}>; rel="next"`);
      }
      return leads;
    },
  );
}

const hostShape = /^[\w.:[\]-]+$/;

/**
 * The address of another page of the list, as the caller addresses this service; without scheme and host where
 * the caller names no host that could stand in an address.
 */
function nextPage(request: FastifyRequest, query: LeadQuery): string {
  const origin = hostShape.test(request.host) ? `${request.protocol}://${request.host}` : '';
  return `${origin}${request.routeOptions.url}?${new URLSearchParams(query).toString()}`;
}
