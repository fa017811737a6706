import type { HoldTimers } from '@leads/core/lead';
import type { PaymentRunner } from '@leads/core/payout';
import type { Metrics } from '@leads/http/service/metrics';

/** Registers the metrics of approvals at the end of the hold time. */
export function registerHoldMetrics(
  metrics: Metrics,
  holdTimers: Pick<HoldTimers, 'approvedCount' | 'lateSeconds'>,
): void {
  metrics.counter(
    {
      name: 'leads_hold_ended_total',
      help: 'Leads that this process has approved at the end of their hold time.',
    },
    () => holdTimers.approvedCount,
  );
  metrics.gauge(
    { name: 'leads_hold_late_seconds', help: 'How long the first due lead of the last check was due.' },
    () => holdTimers.lateSeconds,
    'max',
  );
}

/** Registers the metric of payments that make no progress. */
export function registerPaymentMetrics(
  metrics: Metrics,
  paymentRunner: Pick<PaymentRunner, 'stalledSeconds'>,
): void {
  metrics.gauge(
    {
      name: 'leads_payment_stalled_seconds',
      help: 'How long the payment in progress whose last step is the oldest has made no progress.',
    },
    () => paymentRunner.stalledSeconds,
    'max',
  );
}
