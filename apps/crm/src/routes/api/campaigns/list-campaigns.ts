import { CampaignQuery, CampaignView, listCampaigns } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the campaigns of the caller's workspace. */
export function listCampaignsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/campaigns',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'listCampaigns',
        tags: ['campaigns'],
        summary: 'List campaigns, oldest first',
        description:
          'Owners and managers see the payout of each campaign. A publisher sees the payout of its own leads instead.',
        querystring: CampaignQuery,
        response: {
          200: Type.Array(CampaignView, { description: 'All campaigns of the workspace.' }),
          ...errorResponses('invalid_input', ...commonErrors),
        },
      },
    },
    (request) => listCampaigns(context, request.principal, request.query),
  );
}
