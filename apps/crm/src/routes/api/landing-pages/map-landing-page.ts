import { LandingPageAnswer, LandingPageMapping, mapLandingPage } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Map a landing page to a campaign, or to none. */
export function mapLandingPageRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/landing-pages/:id',
    {
      config: { permission: 'manager' },
      schema: {
        operationId: 'mapLandingPage',
        tags: ['landing pages'],
        summary: 'Map a landing page to a campaign',
        description:
          'Leads that come from now on go to the campaign, while it is active; those that came stay where they are. An empty code unmaps. Owners and managers only.',
        params: idPath('landing page'),
        body: LandingPageMapping,
        response: {
          200: LandingPageAnswer,
          ...errorResponses(...bodyErrors, 'campaign_unavailable', 'not_found', ...commonErrors),
        },
      },
    },
    async (request) => ({
      success: true as const,
      landingPage: await mapLandingPage(
        context.campaigns,
        request.principal,
        request.params.id,
        request.body,
      ),
    }),
  );
}
