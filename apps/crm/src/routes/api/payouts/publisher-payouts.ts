import {
  formatPayout,
  listPublisherPayouts,
  Payout,
  PublisherPayout,
  PublisherPayoutAnswer,
  removePublisherPayout,
  setPublisherPayout,
} from '@leads/core/payout';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

const publisherPath = Type.Object({
  ...idPath('campaign').properties,
  userId: Type.String({
    description: 'Identifier of the publisher.',
    examples: ['019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'],
  }),
});

/** Registers the routes of the payouts of a campaign's publishers. */
export function publisherPayoutsRoutes(app: Server, context: CrmContext): void {
  app.get(
    '/campaigns/:id/payouts',
    {
      config: { permission: 'managePayouts', scope: 'leads:read' },
      schema: {
        operationId: 'listPublisherPayouts',
        tags: ['campaigns'],
        summary: 'List the payouts of publishers',
        description:
          'Lists the payouts that publishers have in place of the payout of the campaign. Requires the role owner or manager.',
        params: idPath('campaign'),
        querystring: Type.Object({}, { additionalProperties: false }),
        response: {
          200: Type.Array(PublisherPayout, { description: 'The payouts, in the order of the user ids.' }),
          ...errorResponses('invalid_input', 'not_found', ...commonErrors),
        },
      },
    },
    (request) => listPublisherPayouts(context.payouts, request.principal, request.params.id),
  );

  app.put(
    '/campaigns/:id/payouts/:userId',
    {
      config: { permission: 'managePayouts', scope: 'admin' },
      schema: {
        operationId: 'setPublisherPayout',
        tags: ['campaigns'],
        summary: 'Set the payout of a publisher',
        description:
          'Replaces the payout of the campaign for the leads of one member of the workspace. It applies to leads that become Approved from now on. Requires the role owner or manager.',
        params: publisherPath,
        body: Payout,
        response: {
          200: PublisherPayoutAnswer,
          ...errorResponses(...bodyErrors, 'not_found', 'limit_reached', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const { id: campaignId, userId } = params;
      const payout = await setPublisherPayout(context.payouts, principal, { campaignId, userId }, body);
      await context.recordAction(auditOrigin(request), {
        action: 'publisher_payout.changed',
        scope: principal,
        targetId: campaignId,
        details: { userId, payout: formatPayout(payout) },
      });
      return { success: true as const, payout };
    },
  );

  app.delete(
    '/campaigns/:id/payouts/:userId',
    {
      config: { permission: 'managePayouts', scope: 'admin' },
      schema: {
        operationId: 'removePublisherPayout',
        tags: ['campaigns'],
        summary: 'Remove the payout of a publisher',
        description:
          'The leads of the publisher then have the payout of the campaign when they become Approved. Requires the role owner or manager.',
        params: publisherPath,
        response: {
          200: PublisherPayoutAnswer,
          ...errorResponses(...bodyErrors, 'not_found', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params } = request;
      const { id: campaignId, userId } = params;
      const payout = await removePublisherPayout(context.payouts, principal, { campaignId, userId });
      await context.recordAction(auditOrigin(request), {
        action: 'publisher_payout.removed',
        scope: principal,
        targetId: campaignId,
        details: { userId, payout: formatPayout(payout) },
      });
      return { success: true as const, payout };
    },
  );
}
