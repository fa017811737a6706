import { isOutage, LeadsError } from '@leads/core/errors';
import type { LeadStore, LeadToInsert, StoredLead } from '@leads/core/lead';
import type { LeadBuffer } from '@leads/core/nats';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import type { Breaker } from './breaker.ts';

/** How long an insert is waited for before the buffer takes its leads; without the buffer, in milliseconds. */
const patienceMs = 1_000;
const patienceWithoutBufferMs = 1_900;

const none: ReadonlyMap<string, StoredLead> = new Map();

/** What goes through the buffer. */
export interface BufferObserver {
  buffered(leads: number): void;
  /** Leads that the buffer should have taken, and did not. */
  failed(leads: number, error: unknown): void;
}

/**
 * Stores leads in Postgres, and while that is away in the buffer. Leads keep their ids: what an insert has stored whose
 * answer never came is not stored again.
 */
export class BufferedLeadStore implements Pick<LeadStore, 'insert'> {
  readonly #leads: Pick<LeadStore, 'insert'>;
  readonly #buffer: Pick<LeadBuffer, 'isConnected' | 'put'>;
  readonly #breaker: Breaker;
  readonly #observer: BufferObserver;

  constructor(options: {
    leads: Pick<LeadStore, 'insert'>;
    buffer: Pick<LeadBuffer, 'isConnected' | 'put'>;
    breaker: Breaker;
    observer: BufferObserver;
  }) {
    this.#leads = options.leads;
    this.#buffer = options.buffer;
    this.#breaker = options.breaker;
    this.#observer = options.observer;
  }

  /**
   * @returns the leads that were added; none of those that the buffer has taken.
   * @throws what the database says of leads that it refuses; LeadsError `unavailable` where neither takes them.
   */
  async insert(leads: readonly LeadToInsert[]): Promise<ReadonlyMap<string, StoredLead>> {
    const { isOpen } = this.#breaker;
    if (isOpen && !this.#breaker.tryAgain()) return this.#putAway(leads);
    const inserting = this.#try(leads);
    if (!isOpen) {
      const since = performance.now();
      try {
        const added = await withTimeout(
          this.#buffer.isConnected ? patienceMs : patienceWithoutBufferMs,
          inserting,
        );
        if (added !== timedOut) return added;
        this.#breaker.late(since);
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
    }
    // Either is enough, and by the ids both are no more than one. The insert may not come back for long.
    try {
      const inTime = withTimeout(patienceMs, inserting).then((added) =>
        added === timedOut ? Promise.reject(unavailable()) : added,
      );
      return await Promise.any([inTime, this.#putAway(leads)]);
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  }

  async #try(leads: readonly LeadToInsert[]): Promise<ReadonlyMap<string, StoredLead>> {
    try {
      const added = await this.#leads.insert(leads);
      this.#breaker.answered();
      return added;
    } catch (error) {
      if (isOutage(error)) this.#breaker.failed(error);
      else this.#breaker.answered();
      throw error;
    }
  }

  async #putAway(leads: readonly LeadToInsert[]): Promise<ReadonlyMap<string, StoredLead>> {
    try {
      await this.#buffer.put(leads);
    } catch (error) {
      this.#observer.failed(leads.length, error);
      throw error;
    }
    this.#observer.buffered(leads.length);
    return none;
  }
}

function unavailable(): LeadsError {
  return new LeadsError('unavailable', { retryAfterSeconds: 1 });
}
