import type { LeadBuffer, WaitingLeads } from '@leads/core/nats';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import type { Logger } from '@leads/http/service/log';
import type { Metrics } from '@leads/http/service/metrics';
import type { BufferObserver } from './buffered-lead-store.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { DrainObserver } from './lead-drainer.ts';

/** Counts what goes into the buffer, and what goes out; says what ops must know. */
export function observeBuffer(metrics: Metrics, log: Logger): { into: BufferObserver; outOf: DrainObserver } {
  const counts = { buffered: 0, refused: 0, drained: 0, quarantined: 0 };
  metrics.counter(
    { name: 'lead_buffer_buffered_total', help: 'Leads put into the buffer.' },
    () => counts.buffered,
  );
  metrics.counter(
    { name: 'lead_buffer_refused_total', help: 'Leads that the buffer did not take: they were turned away.' },
    () => counts.refused,
  );
  metrics.counter(
    { name: 'lead_buffer_drained_total', help: 'Leads stored from the buffer.' },
    () => counts.drained,
  );
  metrics.counter(
    { name: 'lead_buffer_quarantined_total', help: 'Leads from the buffer that Postgres refused for good.' },
    () => counts.quarantined,
  );
  let isTaking = true;
  return {
    into: {
      buffered(leads) {
        counts.buffered += leads;
        isTaking = true;
      },
      failed(leads, err) {
        counts.refused += leads;
        if (isTaking) log.error({ err }, 'The buffer takes no leads: they are turned away');
        isTaking = false;
      },
    },
    outOf: {
      drained(leads) {
        counts.drained += leads;
      },
      quarantined(leads) {
        counts.quarantined += leads;
        log.warn({ leads }, 'Leads from the buffer are refused by Postgres: they are in the quarantine');
      },
      failed(err) {
        log.error({ err }, 'The buffer cannot be emptied: it is tried again');
      },
    },
  };
}

/** Tells which way leads go. */
export function registerBreakerMetrics(metrics: Metrics, breaker: Pick<CircuitBreaker, 'isOpen'>): void {
  metrics.gauge(
    {
      name: 'lead_buffer_active',
      help: 'Processes whose leads go to the buffer, since Postgres is away.',
    },
    () => Number(breaker.isOpen),
  );
}

/** Whoever scrapes waits for the broker for so long at most, in milliseconds. */
const patienceMs = 1_000;

/** Tells what waits in the buffer, which all processes share: nothing where the broker does not tell. */
export function registerBufferMetrics(metrics: Metrics, buffer: Pick<LeadBuffer, 'waiting'>): void {
  let asking: Promise<WaitingLeads | undefined> | undefined;
  // Once for all metrics of a scrape.
  const ask = () => {
    asking ??= withTimeout(patienceMs, buffer.waiting())
      .then((waiting) => (waiting === timedOut ? undefined : waiting))
      .catch(() => undefined)
      .finally(() => (asking = undefined));
    return asking;
  };
  const gauge = (name: string, help: string, read: (waiting: WaitingLeads) => number) => {
    const readNow = async () => {
      const waiting = await ask();
      return waiting === undefined ? [] : read(waiting);
    };
    metrics.gauge({ name, help }, readNow, 'max');
  };
  gauge(
    'lead_buffer_messages',
    'Messages in the buffer, each of the leads that were put together.',
    ({ messages }) => messages,
  );
  gauge('lead_buffer_bytes', 'How much room leads take in the buffer.', ({ bytes }) => bytes);
  gauge(
    'lead_buffer_oldest_wait_seconds',
    'For how long the oldest leads have waited in the buffer.',
    // The broker has a clock of its own.
    ({ oldestAt }) => (oldestAt === undefined ? 0 : Math.max(0, Date.now() - oldestAt.getTime()) / 1_000),
  );
}
