import { createLandingPage, LandingPageAnswer, NewLandingPage } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';

/** Register a landing page before its first lead does. */
export function createLandingPageRoute(app: Server, context: CrmContext): void {
  app.post(
    '/landing-pages',
    {
      config: { permission: 'manager' },
      schema: {
        operationId: 'createLandingPage',
        tags: ['landing pages'],
        summary: 'Register a landing page',
        description:
          'Landing pages register by their first lead; this is for one that is to have its campaign before. The campaign is active or paused. Owners and managers only.',
        body: NewLandingPage,
        response: {
          200: LandingPageAnswer,
          ...errorResponses(...bodyErrors, 'campaign_unavailable', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => ({
      success: true as const,
      landingPage: await createLandingPage(context.campaigns, request.principal, request.body),
    }),
  );
}
