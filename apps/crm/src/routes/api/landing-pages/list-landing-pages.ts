import { LandingPageQuery, LandingPageView, listLandingPages } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { linkPages } from '../page-links.ts';

/** Registers the route that lists the landing pages of the caller's workspace. */
export function listLandingPagesRoute(app: Server, context: CrmContext): void {
  app.get(
    '/landing-pages',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'listLandingPages',
        tags: ['landing pages'],
        summary: 'List landing pages by name',
        description:
          'The `Link` header contains the URL of the next page (RFC 8288, `rel="next"`). It is absent on the last page.',
        querystring: LandingPageQuery,
        response: {
          200: Type.Array(LandingPageView, {
            description: 'One page of landing pages.',
            headers: {
              Link: { description: 'The URL of the next page, `rel="next"` (RFC 8288).', type: 'string' },
            },
          }),
          ...errorResponses('invalid_input', 'invalid_cursor', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { landingPages, nextCursor } = await listLandingPages(context, request.principal, request.query);
      if (nextCursor !== undefined) {
        linkPages(request, reply, { next: { ...request.query, cursor: nextCursor } });
      }
      return landingPages;
    },
  );
}
