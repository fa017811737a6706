import { IdempotencyKey } from '@leads/core/lead';
import { createPayment, NewPayment, PaymentAnswer } from '@leads/core/payout';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that creates a payment. */
export function createPaymentRoute(app: Server, context: CrmContext): void {
  app.post(
    '/payments',
    {
      config: { permission: 'createPayments', scope: 'leads:status' },
      schema: {
        operationId: 'createPayment',
        tags: ['campaigns'],
        summary: 'Pay the approved leads of a publisher',
        description:
          'Records a payment of the leads that are Approved now, have a payout in the currency, and were created in a range of days, as in a statement. They become Paid in the background, up to 100,000 of them. A lead that changes meanwhile is skipped. The work continues after a restart of the service. Its progress is at `/payments/{id}`. A lead of another payment in progress is left out. The answer is 409 if there is no such lead. Requires the role owner or manager.',
        headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
        body: NewPayment,
        response: {
          200: PaymentAnswer,
          ...errorResponses(
            ...bodyErrors,
            'conflict',
            'limit_reached',
            'idempotency_key_reused',
            ...commonErrors,
          ),
        },
      },
    },
    async (request) => {
      const { principal, body, headers } = request;
      const { payment, isChanged } = await createPayment(
        context.payments,
        principal,
        body,
        headers['idempotency-key'],
      );
      context.paymentRunner.wake();
      if (isChanged) {
        await context.recordAction(auditOrigin(request), {
          action: 'payment.created',
          scope: principal,
          targetId: payment.id,
          details: {
            number: payment.number,
            userId: payment.userId,
            leads: payment.total,
            currency: payment.currency,
          },
        });
      }
      return { success: true as const, payment };
    },
  );
}
