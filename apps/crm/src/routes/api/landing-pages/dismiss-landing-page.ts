import { dismissLandingPage, LandingPageAnswer, LandingPageDismissal } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that dismisses a landing page without a campaign, or restores it. */
export function dismissLandingPageRoute(app: Server, { landingPages, recordAction }: CrmContext): void {
  app.post(
    '/landing-pages/:id/dismissal',
    {
      config: { permission: 'manageLandingPages', scope: 'admin' },
      schema: {
        operationId: 'dismissLandingPage',
        tags: ['landing pages'],
        summary: 'Dismiss or restore a landing page',
        description:
          'A dismissed landing page stays dismissed when further leads name it, until it is restored, mapped or registered. Its leads are stored as before. A landing page that is mapped to a campaign cannot be dismissed (409). Requires the role owner or manager.',
        params: idPath('landing page'),
        body: LandingPageDismissal,
        response: {
          200: LandingPageAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', 'limit_reached', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const landingPage = await dismissLandingPage(landingPages, principal, params.id, body);
      await recordAction(auditOrigin(request), {
        action: body.dismissed ? 'landing_page.dismissed' : 'landing_page.restored',
        scope: principal,
        targetId: landingPage.id,
        details: { name: landingPage.name },
      });
      return { success: true as const, landingPage };
    },
  );
}
