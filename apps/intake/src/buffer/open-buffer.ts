import type { LeadQuarantine, LeadStore } from '@leads/core/lead';
import type { Broker } from '@leads/core/nats';
import { bufferStreamName, LeadBuffer } from '@leads/core/nats';
import type { Logger } from '@leads/http/service/log';
import type { Metrics } from '@leads/http/service/metrics';
import { observeBuffer, registerBreakerMetrics, registerBufferMetrics } from './buffer-metrics.ts';
import { BufferShares } from './buffer-shares.ts';
import { BufferedLeadStore } from './buffered-lead-store.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { LeadDrainer } from './lead-drainer.ts';

/** The buffer of the intake. */
export interface OpenBuffer extends AsyncDisposable {
  /** Stores leads in Postgres, or in the buffer. */
  readonly leads: Pick<LeadStore, 'insert'>;
  /** @throws LeadsError `unavailable` if the buffer is full or unavailable. */
  checkRoom(): Promise<void>;
  /**
   * Starts to move buffered leads to Postgres.
   *
   * @param isBusy whether many leads of requests wait to be stored.
   */
  drain(isBusy: () => boolean): void;
}

/** Opens the buffer in NATS JetStream. */
export function openBuffer(
  options: {
    readonly broker: Broker;
    readonly maxBytes: number;
    readonly replicas: number;
    readonly leads: Pick<LeadStore, 'insert'>;
    readonly quarantine: LeadQuarantine;
    /** Returns the id of the workspace that has all API keys of the deployment, if there is one. */
    readonly findOnlyWorkspace: () => Promise<string | undefined>;
    /** Called when Postgres becomes unavailable. */
    readonly onUnavailable: () => void;
  },
  metrics: Metrics,
  log: Logger,
): OpenBuffer {
  const { broker, maxBytes, replicas, leads, quarantine, findOnlyWorkspace, onUnavailable } = options;
  const buffer = new LeadBuffer(
    broker,
    { name: bufferStreamName, maxBytes, replicas },
    {
      onOtherLimits: () =>
        log.warn(
          'The stream of buffered leads has other limits than INTAKE_BUFFER_*: run `leads nats setup` with the same settings',
        ),
    },
  );
  const shares = new BufferShares(async () => (await buffer.waiting()).room, findOnlyWorkspace);
  const breaker = new CircuitBreaker((isOpen, err) => {
    if (!isOpen) {
      shares.clear();
      log.info('Postgres is available again; leads are stored directly');
      return;
    }
    log.warn({ err }, 'Postgres is unavailable; leads are buffered');
    onUnavailable();
  });
  const observer = observeBuffer(metrics, log);
  registerBreakerMetrics(metrics, breaker);
  registerBufferMetrics(metrics, buffer);
  let drainer: LeadDrainer | undefined;
  return {
    leads: new BufferedLeadStore({ leads, buffer, shares, breaker, observer: observer.into }),
    checkRoom: () => buffer.checkRoom(),
    drain(isBusy) {
      drainer ??= new LeadDrainer({
        buffer,
        stores: { leads, quarantine },
        breaker,
        isBusy,
        observer: observer.outOf,
      });
    },
    async [Symbol.asyncDispose]() {
      await drainer?.[Symbol.asyncDispose]();
    },
  };
}
