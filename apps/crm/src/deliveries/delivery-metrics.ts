import type { Metrics } from '@leads/http/service/metrics';
import type { OpenDeliverer } from './open-deliverer.ts';

/** The bucket bounds of attempts in seconds, up to the timeout of an attempt. */
const attemptBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Registers the durations of attempts. Returns a function that observes the duration of an attempt in milliseconds. */
export function registerAttemptDurations(metrics: Metrics): (durationMs: number) => void {
  const durations = metrics.histogram(
    {
      name: 'delivery_attempt_duration_seconds',
      help: 'Time of an attempt, from the DNS query to the end of the answer.',
    },
    attemptBounds,
  );
  return (durationMs) => durations.observe(durationMs / 1_000);
}

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
