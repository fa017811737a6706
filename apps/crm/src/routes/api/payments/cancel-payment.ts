import { cancelPayment, PaymentAnswer, PaymentCancellation } from '@leads/core/payout';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

/** Registers the route that cancels a payment. */
export function cancelPaymentRoute(app: Server, context: CrmContext): void {
  app.post(
    '/payments/:id/cancel',
    {
      config: { permission: 'cancelPayments', scope: 'leads:status' },
      schema: {
        operationId: 'cancelPayment',
        tags: ['campaigns'],
        summary: 'Cancel a payment',
        description:
          'Its leads become Approved again in the background, with the same payout. A lead whose status has changed since the payment keeps its status, and is counted as kept. The payment stays in the list. A payment in progress marks no further lead as Paid. A cancelled payment stays as it is. Requires the role owner.',
        params: idPath('payment'),
        body: PaymentCancellation,
        response: {
          200: PaymentAnswer,
          ...errorResponses(...bodyErrors, 'not_found', ...commonErrors),
        },
      },
    },
    async (request) => {
      const { principal, params, body } = request;
      const { payment, isChanged } = await cancelPayment(context.payments, principal, params.id, body.reason);
      context.paymentRunner.wake();
      if (isChanged) {
        await context.recordAction(auditOrigin(request), {
          action: 'payment.canceled',
          scope: principal,
          targetId: payment.id,
          details: { number: payment.number, userId: payment.userId },
        });
      }
      return { success: true as const, payment };
    },
  );
}
