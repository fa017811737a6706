import { isOutage, LeadsError } from '@leads/core/errors';
import type { InsertOutcome, LeadStore, LeadToInsert } from '@leads/core/lead';
import type { LeadBuffer } from '@leads/core/nats';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import type { BufferShares } from './buffer-shares.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** Timeouts of an insert in milliseconds, with the buffer and while the broker is unavailable. */
const insertTimeoutMs = 1_000;
const insertTimeoutWithoutBufferMs = 1_900;

const buffered: InsertOutcome = { result: 'buffered' };
const refused: InsertOutcome = { result: 'unavailable' };

/** Is notified of what enters the buffer. */
export interface BufferObserver {
  buffered(leads: number): void;
  /** Called for leads of workspaces that have their share of the buffer. */
  refused(leads: number): void;
  /** Called for leads that the buffer failed to store. */
  failed(leads: number, error: unknown): void;
}

/**
 * Stores leads in Postgres, or in the buffer while Postgres is unavailable. A lead keeps its id, so that an insert whose
 * response was lost and a buffered copy result in one lead.
 */
export class BufferedLeadStore implements Pick<LeadStore, 'insert'> {
  readonly #leads: Pick<LeadStore, 'insert'>;
  readonly #buffer: Pick<LeadBuffer, 'isConnected' | 'put'>;
  readonly #shares: BufferShares;
  readonly #breaker: CircuitBreaker;
  readonly #observer: BufferObserver;

  constructor(options: {
    leads: Pick<LeadStore, 'insert'>;
    buffer: Pick<LeadBuffer, 'isConnected' | 'put'>;
    shares: BufferShares;
    breaker: CircuitBreaker;
    observer: BufferObserver;
  }) {
    this.#leads = options.leads;
    this.#buffer = options.buffer;
    this.#shares = options.shares;
    this.#breaker = options.breaker;
    this.#observer = options.observer;
  }

  /**
   * Stores leads.
   *
   * @returns the outcome of each lead. The content of a buffered lead is compared when it leaves the buffer. A lead is
   *   `unavailable` if Postgres fails and its workspace has its share of the buffer.
   * @throws the error of the database for leads that it rejects; LeadsError `unavailable` if both Postgres and the
   *   buffer fail.
   */
  async insert(leads: readonly LeadToInsert[]): Promise<readonly InsertOutcome[]> {
    const { isOpen } = this.#breaker;
    if (isOpen && !this.#breaker.tryProbe()) return this.#putIntoBuffer(leads);
    const inserting = this.#insertIntoPostgres(leads);
    if (!isOpen) {
      const startedAt = performance.now();
      try {
        const outcomes = await withTimeout(
          this.#buffer.isConnected ? insertTimeoutMs : insertTimeoutWithoutBufferMs,
          inserting,
        );
        if (outcomes !== timedOut) return outcomes;
        this.#breaker.recordTimeout(startedAt);
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
    }
    // The first of the two to store the leads suffices, because the insert may not return for long.
    try {
      const inTime = withTimeout(insertTimeoutMs, inserting).then((outcomes) =>
        outcomes === timedOut ? Promise.reject(unavailable()) : outcomes,
      );
      // Postgres may still store the leads that the buffer refused.
      const buffering = this.#putIntoBuffer(leads).then((outcomes) =>
        outcomes.includes(refused) ? inTime.catch(() => outcomes) : outcomes,
      );
      return await Promise.any([inTime, buffering]);
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  }

  async #insertIntoPostgres(leads: readonly LeadToInsert[]): Promise<readonly InsertOutcome[]> {
    try {
      const outcomes = await this.#leads.insert(leads);
      this.#breaker.recordResponse();
      return outcomes;
    } catch (error) {
      if (isOutage(error)) this.#breaker.recordFailure(error);
      else this.#breaker.recordResponse();
      throw error;
    }
  }

  async #putIntoBuffer(leads: readonly LeadToInsert[]): Promise<readonly InsertOutcome[]> {
    await this.#shares.refresh();
    const outcomes = leads.map(({ workspaceId }) => (this.#shares.hasRoom(workspaceId) ? buffered : refused));
    const fitting = leads.filter((_, at) => outcomes[at] === buffered);
    this.#observer.refused(leads.length - fitting.length);
    if (fitting.length === 0) return outcomes;
    try {
      const sizes = await this.#buffer.put(fitting);
      for (const [at, { workspaceId }] of fitting.entries()) this.#shares.add(workspaceId, sizes[at] ?? 0);
    } catch (error) {
      this.#observer.failed(fitting.length, error);
      throw error;
    }
    this.#observer.buffered(fitting.length);
    return outcomes;
  }
}

function unavailable(): LeadsError {
  return new LeadsError('unavailable', { retryAfterSeconds: 1 });
}
