import { listPayments, Payment, PaymentQuery } from '@leads/core/payout';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { linkHeader, linkNextPage } from '../page-links.ts';

/** Registers the route that lists payments. */
export function listPaymentsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/payments',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'listPayments',
        tags: ['campaigns'],
        summary: 'List payments, newest first',
        description: 'Cancelled payments are listed, too. A publisher gets only the payments to it.',
        querystring: PaymentQuery,
        response: {
          200: {
            description: 'One page of the payments.',
            headers: { Link: linkHeader },
            content: {
              'application/json': {
                schema: Type.Array(Payment, { description: 'One page of the payments.' }),
              },
            },
          },
          ...errorResponses('invalid_input', 'invalid_cursor', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { query, principal } = request;
      const { entries, nextCursor } = await listPayments(context.payments, principal, query);
      linkNextPage(request, reply, query, nextCursor);
      return entries;
    },
  );
}
