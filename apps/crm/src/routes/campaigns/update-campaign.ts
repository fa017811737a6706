import { CampaignChanges, updateCampaign } from '@leads/core/campaign';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/errors';
import type { Server } from '@leads/http/server';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';
import { CampaignAnswer } from './campaign-answer.ts';

const CampaignPath = Type.Object({
  id: Type.String({
    description: 'Identifier of the campaign.',
    examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
  }),
});

/** Change a campaign. */
export function updateCampaignRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/campaigns/:id',
    {
      schema: {
        operationId: 'updateCampaign',
        tags: ['campaigns'],
        summary: 'Change a campaign',
        description:
          'The default campaign stays active: to pause or archive it, make another one the default first. Owners and managers only.',
        params: CampaignPath,
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
