import type { EventRelay, OutboxMonitor } from '@leads/core/event';
import type { Metrics } from '@leads/http/service/metrics';

/** Registers the metrics of published and unpublished events. */
export function registerEventMetrics(
  metrics: Metrics,
  { outboxMonitor, relay }: { outboxMonitor: OutboxMonitor; relay: EventRelay },
): void {
  metrics.counter(
    { name: 'lead_events_published_total', help: 'Events that this process has published.' },
    () => relay.publishedCount,
  );
  metrics.gauge(
    {
      name: 'lead_events_oldest_wait_seconds',
      help: 'How long the oldest unpublished event has waited.',
    },
    () => outboxMonitor.waitedSeconds,
  );
}
