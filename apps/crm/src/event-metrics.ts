import type { EventRelay, OutboxMonitor } from '@leads/core/event';
import type { Metrics } from '@leads/http/service/metrics';

/** Tells what waits to be told. */
export function registerEventMetrics(
  metrics: Metrics,
  { outboxMonitor, relay }: { outboxMonitor: OutboxMonitor; relay: EventRelay | undefined },
): void {
  metrics.counter(
    { name: 'lead_events_published_total', help: 'Events that this process has handed to NATS.' },
    () => relay?.publishedCount ?? 0,
  );
  metrics.gauge(
    {
      name: 'lead_events_oldest_wait_seconds',
      help: 'For how long the oldest event has waited to be handed to NATS.',
    },
    () => outboxMonitor.waitedSeconds,
  );
}
