import { CampaignAnswer, CampaignChanges, updateCampaign } from '@leads/core/campaign';
import { formatPayout } from '@leads/core/payout';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that changes a campaign. */
export function updateCampaignRoute(app: Server, context: CrmContext): void {
  app.patch(
    '/campaigns/:id',
    {
      config: { permission: 'manageCampaigns', scope: 'admin' },
      schema: {
        operationId: 'updateCampaign',
        tags: ['campaigns'],
        summary: 'Change a campaign',
        description:
          'The default campaign is always active. To pause or archive it, make another campaign the default first. Requires the role owner or manager.',
        params: idPath('campaign'),
        body: CampaignChanges,
        response: {
          200: CampaignAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'conflict', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const campaign = await updateCampaign(context, principal, params.id, body);
      await context.recordAction(auditOrigin(request), {
        action: 'campaign.changed',
        scope: principal,
        targetId: campaign.id,
        details: {
          code: campaign.code,
          ...body,
          ifStatus: undefined,
          approveAfterSeconds: body.approveAfterSeconds === null ? 0 : body.approveAfterSeconds,
          assigneeIds: body.assigneeIds?.join(', '),
          payout: body.payout === undefined ? undefined : formatPayout(campaign.payout),
        },
      });
      return { success: true as const, campaign };
    },
  );
}
