import type { EventPublisher } from '@leads/core/nats';
import { endSpansAfter } from '@leads/http/service/trace-leads';
import type { Tracing } from '@leads/http/service/tracing';

type Publisher = Pick<EventPublisher, 'isConnected' | 'publish'>;

/** Starts a span around the publishing of each traced event. */
export function tracePublishing(publisher: Publisher, tracing: Tracing | undefined): Publisher {
  if (tracing === undefined) return publisher;
  return {
    get isConnected() {
      return publisher.isConnected;
    },
    async publish(events) {
      const spans = events.flatMap(({ id, type, traceparent: parent }) =>
        parent === undefined
          ? []
          : tracing.start(`send ${type}`, {
              kind: 'producer',
              parent,
              attributes: {
                'messaging.system': 'nats',
                'messaging.operation.type': 'send',
                'messaging.operation.name': 'publish',
                'messaging.destination.template': `leads.{workspaceId}.${type}`,
                'messaging.message.id': id,
              },
            }),
      );
      await endSpansAfter(spans, () => publisher.publish(events));
    },
  };
}
