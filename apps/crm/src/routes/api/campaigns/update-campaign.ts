import { CampaignAnswer, CampaignChanges, updateCampaign } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Change a campaign. */
export function updateCampaignRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/campaigns/:id',
    {
      config: { permission: 'manager' },
      schema: {
        operationId: 'updateCampaign',
        tags: ['campaigns'],
        summary: 'Change a campaign',
        description:
          'The default campaign stays active: to pause or archive it, make another one the default first. Owners and managers only.',
        params: idPath('campaign'),
        body: CampaignChanges,
        response: {
          200: CampaignAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => ({
      success: true as const,
      campaign: await updateCampaign(context.campaigns, request.principal, request.params.id, request.body),
    }),
  );
}
