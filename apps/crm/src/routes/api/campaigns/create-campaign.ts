import { CampaignAnswer, createCampaign, NewCampaign } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that creates a campaign. */
export function createCampaignRoute(app: Server, context: CrmContext): void {
  app.post(
    '/campaigns',
    {
      config: { permission: 'manageCampaigns', scope: 'admin' },
      schema: {
        operationId: 'createCampaign',
        tags: ['campaigns'],
        summary: 'Create a campaign',
        description:
          'The new campaign is active. If it is the default, it replaces the previous default campaign. Requires the role owner or manager.',
        body: NewCampaign,
        response: {
          200: CampaignAnswer,
          ...errorResponses(...bodyErrors, 'limit_reached', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => {
      const campaign = await createCampaign(context.campaigns, request.principal, request.body);
      await context.recordAction(auditOrigin(request), {
        action: 'campaign.created',
        scope: request.principal,
        targetId: campaign.id,
        details: { code: campaign.code },
      });
      return { success: true as const, campaign };
    },
  );
}
