import { createLandingPage, LandingPageAnswer, NewLandingPage } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that creates a landing page before its first lead arrives. */
export function createLandingPageRoute(app: Server, context: CrmContext): void {
  app.post(
    '/landing-pages',
    {
      config: { permission: 'manageLandingPages', scope: 'admin' },
      schema: {
        operationId: 'createLandingPage',
        tags: ['landing pages'],
        summary: 'Register a landing page',
        description:
          'The first lead of a landing page registers it automatically. Use this operation to set the campaign before the first lead. The campaign must be active or paused. Requires the role owner or manager.',
        body: NewLandingPage,
        response: {
          200: LandingPageAnswer,
          ...errorResponses(
            ...bodyErrors,
            'limit_reached',
            'campaign_unavailable',
            'conflict',
            ...commonErrors,
          ),
        },
      },
    },
    async (request) => {
      const { principal, body } = request;
      const landingPage = await createLandingPage(context, principal, body);
      await context.recordAction(auditOrigin(request), {
        action: 'landing_page.created',
        scope: principal,
        targetId: landingPage.id,
        details: { ...body },
      });
      return { success: true as const, landingPage };
    },
  );
}
