import type { Metrics } from '@leads/http/service/metrics';
import type { OpenDeliverer } from './open-deliverer.ts';

/** Registers the metrics of deliveries. */
export function registerDeliveryMetrics(metrics: Metrics, deliverer: OpenDeliverer): void {
  metrics.counter(
    { name: 'delivery_attempts_total', help: 'Attempts of this process to deliver events to webhooks.' },
    () => [
      [{ result: 'delivered' }, deliverer.counts.delivered],
      [{ result: 'failed' }, deliverer.counts.failed],
    ],
  );
  metrics.gauge(
    { name: 'deliveries_running', help: 'Requests of this process to webhooks in progress.' },
    () => deliverer.running,
  );
  metrics.gauge(
    { name: 'deliveries_waiting', help: 'Deliveries of all processes that wait for an attempt.' },
    () => deliverer.backlog.waiting,
    'max',
  );
  metrics.gauge(
    {
      name: 'delivery_lag_seconds',
      help: 'How long the oldest delivery has waited for its first attempt.',
    },
    () => deliverer.backlog.lagSeconds,
    'max',
  );
}
