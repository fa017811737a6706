import type { DisposeStack } from '@leads/core/dispose-stack';
import {
  type EventLog,
  EventLogReader,
  EventLogRetention,
  type EventOutbox,
  type EventReader,
  EventRelay,
  OutboxMonitor,
  publishToLog,
  publishToNats,
} from '@leads/core/event';
import { type Broker, EventPublisher, eventStreamName, NatsEventReader } from '@leads/core/nats';
import { type Logger, warnOnError } from '@leads/http/service/log';
import type { Metrics } from '@leads/http/service/metrics';
import type { Tracing } from '@leads/http/service/tracing';
import type { CrmConfig } from './config.ts';
import { registerEventMetrics } from './event-metrics.ts';
import { tracePublishing } from './trace-events.ts';

type EventSettings = Pick<
  CrmConfig,
  'EVENTS_STREAM_DAYS' | 'EVENTS_STREAM_MEGABYTES' | 'EVENTS_STREAM_REPLICAS'
>;

/**
 * Starts to publish the events of the outbox, and opens the reader of published events. Events are published to NATS, and
 * without NATS to the event log in Postgres.
 *
 * @param resources the stack that disposes the parts.
 */
export function openEvents(
  settings: EventSettings,
  options: {
    readonly outbox: EventOutbox;
    readonly eventLog: EventLog;
    readonly broker: Broker | undefined;
    readonly tracing: Tracing | undefined;
  },
  resources: DisposeStack,
  metrics: Metrics,
  log: Logger,
): EventReader {
  const { outbox, eventLog, broker, tracing } = options;
  const outboxMonitor = resources.use(
    new OutboxMonitor(outbox, warnOnError(log, 'The outbox check failed; retrying')),
  );
  const target =
    broker === undefined
      ? publishToLog(eventLog)
      : publishToNats(outbox, tracePublishing(createPublisher(broker, settings, log), tracing));
  const relay = resources.use(
    new EventRelay(target, warnOnError(log, 'Events were not published; retrying')),
  );
  registerEventMetrics(metrics, { outboxMonitor, relay });
  if (broker !== undefined) return new NatsEventReader(broker, eventStreamName);
  resources.use(
    new EventLogRetention(
      eventLog,
      maxAgeMsOf(settings),
      warnOnError(log, 'Expired events were not deleted; retrying'),
    ),
  );
  return resources.use(new EventLogReader(eventLog));
}

function createPublisher(broker: Broker, settings: EventSettings, log: Logger): EventPublisher {
  return new EventPublisher(
    broker,
    {
      name: eventStreamName,
      maxAgeMs: maxAgeMsOf(settings),
      maxBytes: settings.EVENTS_STREAM_MEGABYTES * 1024 * 1024,
      replicas: settings.EVENTS_STREAM_REPLICAS,
    },
    () =>
      log.warn(
        'The stream of events has other limits than EVENTS_STREAM_*: run `leads nats setup` with the same settings',
      ),
  );
}

const maxAgeMsOf = ({ EVENTS_STREAM_DAYS: days }: EventSettings) => days * 86_400_000;
