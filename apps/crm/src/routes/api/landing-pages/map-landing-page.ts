import { LandingPageAnswer, LandingPageMapping, mapLandingPage } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that maps a landing page to a campaign, or removes the mapping. */
export function mapLandingPageRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/landing-pages/:id',
    {
      config: { permission: 'manageLandingPages', scope: 'admin' },
      schema: {
        operationId: 'mapLandingPage',
        tags: ['landing pages'],
        summary: 'Map a landing page to a campaign',
        description:
          'New leads of the landing page go to the campaign while it is active. Existing leads keep their campaign. An empty code removes the mapping. Requires the role owner or manager.',
        params: idPath('landing page'),
        body: LandingPageMapping,
        response: {
          200: LandingPageAnswer,
          ...errorResponses(...bodyErrors, 'campaign_unavailable', 'not_found', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const landingPage = await mapLandingPage(context, principal, params.id, body);
      await context.recordAction(auditOrigin(request), {
        action: 'landing_page.mapped',
        scope: principal,
        targetId: landingPage.id,
        details: { name: landingPage.name, ...body },
      });
      return { success: true as const, landingPage };
    },
  );
}
