import type { LeadBuffer, WaitingLeads } from '@leads/core/nats';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import type { Logger } from '@leads/http/service/log';
import type { Metrics } from '@leads/http/service/metrics';
import type { BufferObserver } from './buffered-lead-store.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { DrainObserver } from './lead-drainer.ts';

/** Registers the counters of the buffer. Returns the observers that update them and log failures. */
export function observeBuffer(metrics: Metrics, log: Logger): { into: BufferObserver; outOf: DrainObserver } {
  const counts = { buffered: 0, refused: 0, drained: 0, quarantined: 0 };
  metrics.counter(
    { name: 'lead_buffer_buffered_total', help: 'Leads stored in the buffer.' },
    () => counts.buffered,
  );
  metrics.counter(
    { name: 'lead_buffer_refused_total', help: 'Leads that the buffer rejected; their requests failed.' },
    () => counts.refused,
  );
  metrics.counter(
    { name: 'lead_buffer_drained_total', help: 'Leads moved from the buffer to Postgres.' },
    () => counts.drained,
  );
  metrics.counter(
    { name: 'lead_buffer_quarantined_total', help: 'Buffered leads that Postgres rejected permanently.' },
    () => counts.quarantined,
  );
  let isAccepting = true;
  return {
    into: {
      buffered(leads) {
        counts.buffered += leads;
        isAccepting = true;
      },
      refused(leads) {
        counts.refused += leads;
      },
      failed(leads, err) {
        counts.refused += leads;
        if (isAccepting) log.error({ err }, 'The buffer rejects leads; their requests fail with 503');
        isAccepting = false;
      },
    },
    outOf: {
      drained(leads) {
        counts.drained += leads;
      },
      quarantined(leads) {
        counts.quarantined += leads;
        log.warn({ leads }, 'Postgres rejected buffered leads; they are in the quarantine');
      },
      failed(err) {
        log.error({ err }, 'Buffered leads could not be stored; retrying');
      },
      unread(err) {
        log.warn({ err }, 'The buffer of leads cannot be read; retrying');
      },
    },
  };
}

/** Registers the gauge of the circuit breaker. */
export function registerBreakerMetrics(metrics: Metrics, breaker: Pick<CircuitBreaker, 'isOpen'>): void {
  metrics.gauge(
    {
      name: 'lead_buffer_active',
      help: 'Processes that buffer leads because Postgres is unavailable.',
    },
    () => Number(breaker.isOpen),
  );
}

/** How long a scrape waits for the broker, in milliseconds. */
const brokerTimeoutMs = 1_000;

/** Registers the gauges of the buffer, which all processes share. They are absent if the broker does not respond. */
export function registerBufferMetrics(metrics: Metrics, buffer: Pick<LeadBuffer, 'waiting'>): void {
  let reading: Promise<WaitingLeads | undefined> | undefined;
  // All metrics of a scrape share one request to the broker.
  const readWaiting = () => {
    reading ??= withTimeout(brokerTimeoutMs, buffer.waiting())
      .then((waiting) => (waiting === timedOut ? undefined : waiting))
      .catch(() => undefined)
      .finally(() => (reading = undefined));
    return reading;
  };
  const gauge = (name: string, help: string, read: (waiting: WaitingLeads) => number) => {
    const readNow = async () => {
      const waiting = await readWaiting();
      return waiting === undefined ? [] : read(waiting);
    };
    metrics.gauge({ name, help }, readNow, 'max');
  };
  gauge(
    'lead_buffer_messages',
    'Messages in the buffer. Each has the leads of one batch, or a part of them.',
    ({ messages }) => messages,
  );
  gauge('lead_buffer_bytes', 'Size of the leads in the buffer.', ({ bytes }) => bytes);
  gauge(
    'lead_buffer_oldest_wait_seconds',
    'Age of the oldest leads in the buffer.',
    // The clock of the broker may differ.
    ({ oldestAt }) => (oldestAt === undefined ? 0 : Math.max(0, Date.now() - oldestAt.getTime()) / 1_000),
  );
}
