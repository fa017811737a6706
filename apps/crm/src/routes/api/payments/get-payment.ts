import { exportPayment, getPayment, PaymentLeadQuery, PaymentWithLeads } from '@leads/core/payout';
import { preferredType } from '@leads/http/server/accept';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';
import { linkHeader, linkNextPage } from '../page-links.ts';
import { csvType, sendFile } from '../send-file.ts';

/** Registers the route that returns a payment with its leads. */
export function getPaymentRoute(app: Server, context: CrmContext): void {
  app.get(
    '/payments/:id',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'getPayment',
        tags: ['campaigns'],
        summary: 'Read a payment, its progress and its leads',
        description:
          'Returns one page of the leads. With `Accept: text/csv`, the response has all of them, whatever the page is. A publisher can read only a payment to it.',
        params: idPath('payment'),
        querystring: PaymentLeadQuery,
        response: {
          200: {
            description: 'The payment.',
            headers: {
              Link: linkHeader,
              'Content-Disposition': {
                description: 'The name of the file: `payment-`, its number, and `.csv`.',
                type: 'string',
              },
            },
            content: {
              'application/json': { schema: PaymentWithLeads },
              'text/csv': {
                schema: Type.String({
                  description: 'Every lead, as CSV (RFC 4180) with a header line.',
                  examples: ['leadId,amount,currency,state\r\n'],
                }),
              },
            },
          },
          ...errorResponses('invalid_input', 'invalid_cursor', 'not_found', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { query, principal, params } = request;
      reply.header('vary', 'Accept');
      if (preferredType(request.headers.accept, ['application/json', csvType]) === csvType) {
        return sendPaidLeads(context, request, reply, params.id);
      }
      const { nextCursor, ...payment } = await getPayment(context.payments, principal, params.id, query);
      linkNextPage(request, reply, query, nextCursor);
      return payment;
    },
  );
}

/** Sends the leads of a payment as a CSV file. */
async function sendPaidLeads(
  { exportReads, transfers }: CrmContext,
  { principal }: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const { payment, csv } = await exportPayment(exportReads.payments, principal, id);
  return sendFile(reply, transfers, { type: csvType, name: `payment-${payment.number}.csv`, texts: csv });
}
