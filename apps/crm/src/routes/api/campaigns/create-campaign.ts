import { CampaignAnswer, createCampaign, NewCampaign } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';

/** Make a campaign. */
export function createCampaignRoute(app: Server, context: CrmContext): void {
  app.post(
    '/campaigns',
    {
      config: { permission: 'manager' },
      schema: {
        operationId: 'createCampaign',
        tags: ['campaigns'],
        summary: 'Create a campaign',
        description:
          'The campaign is active at once. Made the default, it takes the place of the one that was. Owners and managers only.',
        body: NewCampaign,
        response: { 200: CampaignAnswer, ...errorResponses(...bodyErrors, 'conflict', ...commonErrors) },
      },
    },
    async (request) => ({
      success: true as const,
      campaign: await createCampaign(context.campaigns, request.principal, request.body),
    }),
  );
}
