import { setTimeout as sleep } from 'node:timers/promises';
import { BackgroundLoop } from '@leads/core/background/background-loop';
import { isOutage } from '@leads/core/errors';
import {
  insertEach,
  type LeadQuarantine,
  type LeadStore,
  type LeadToInsert,
  storedLater,
  toQuarantined,
} from '@leads/core/lead';
import type { BufferedLeads, LeadBuffer } from '@leads/core/nats';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** The maximum of messages in one fetch. If the intake has few connections, each message has 1 or 2 leads. */
const maxMessages = 1_000;
/** The maximum of leads in one insert, twice the maximum of a batch of requests. */
const maxLeads = 1_000;
/** The maximum size of the messages in one insert, in bytes. A fetch can exceed it if its last messages are the largest. */
const maxBytes = 2 * 1024 * 1024;
/** The number of parallel loops. One fetches while the other stores. */
const loopCount = 2;
/** The pause while the broker or Postgres is unavailable, in milliseconds. */
const unavailableMs = 250;
const retryMs = { min: 250, max: 1_000 };
/** How long requests have priority, in milliseconds. Then buffered leads are stored even if requests wait. */
const maxYieldMs = 1_000;

/** Is notified of what leaves the buffer. */
export interface DrainObserver {
  drained(leads: number): void;
  quarantined(leads: number): void;
  /** Called once when a streak of failures begins, unless Postgres or the broker is unavailable. */
  failed(error: unknown): void;
  /** Called once when a streak of failed fetches begins while the broker is connected. */
  unread(error: unknown): void;
}

/** A message with its leads. */
interface Message {
  readonly fetched: BufferedLeads;
  readonly leads: readonly LeadToInsert[];
}

/**
 * Moves leads from the buffer to Postgres while both are available, with lower priority than requests. A message is
 * acknowledged once all its leads are committed or quarantined. Several instances may drain the same buffer.
 */
export class LeadDrainer implements AsyncDisposable {
  readonly #buffer: Pick<LeadBuffer, 'isConnected' | 'fetch'>;
  readonly #stores: { leads: Pick<LeadStore, 'insert'>; quarantine: Pick<LeadQuarantine, 'add'> };
  readonly #breaker: CircuitBreaker;
  readonly #isBusy: () => boolean;
  readonly #observer: DrainObserver;
  readonly #loops: readonly BackgroundLoop[];
  #isFetchFailing = false;

  /** @param options.isBusy whether many leads of requests wait to be stored. */
  constructor(options: {
    buffer: Pick<LeadBuffer, 'isConnected' | 'fetch'>;
    stores: { leads: Pick<LeadStore, 'insert'>; quarantine: Pick<LeadQuarantine, 'add'> };
    breaker: CircuitBreaker;
    isBusy: () => boolean;
    observer: DrainObserver;
  }) {
    this.#buffer = options.buffer;
    this.#stores = options.stores;
    this.#breaker = options.breaker;
    this.#isBusy = options.isBusy;
    this.#observer = options.observer;
    const loopOptions = {
      step: (signal: AbortSignal) => this.#drain(signal),
      onError: (error: unknown) => {
        if (!isOutage(error)) this.#observer.failed(error);
      },
      retryMs,
    };
    this.#loops = Array.from({ length: loopCount }, () => new BackgroundLoop(loopOptions));
  }

  /** Fetches some messages and stores their leads. */
  async #drain(signal: AbortSignal): Promise<number> {
    const { isOpen } = this.#breaker;
    if (!this.#buffer.isConnected || (isOpen && !this.#breaker.isProbeDue)) return unavailableMs;
    const messages = this.#read(await this.#fetch(isOpen ? 1 : maxMessages));
    const left = toBatches(messages);
    try {
      // The probe is taken after the fetch, because a fetch that fails would leave Postgres without a probe.
      if (isOpen && left.length > 0 && !this.#breaker.tryProbe()) return unavailableMs;
      for (let batch = left[0]; batch !== undefined && !signal.aborted; batch = left[0]) {
        await this.#yield(signal);
        await this.#store(batch);
        left.shift();
      }
    } finally {
      for (const { fetched } of left.flat()) fetched.nak();
    }
    return 0;
  }

  async #fetch(limit: number): Promise<BufferedLeads[]> {
    try {
      const fetched = await this.#buffer.fetch(limit);
      this.#isFetchFailing = false;
      return fetched;
    } catch (error) {
      // A lost connection is reported by the broker itself. Only this reports a broker without the stream.
      if (!this.#isFetchFailing && this.#buffer.isConnected) {
        this.#isFetchFailing = true;
        this.#observer.unread(error);
      }
      throw error;
    }
  }

  /** A message that cannot be parsed stays in the buffer, so that operators can inspect it. */
  #read(fetched: readonly BufferedLeads[]): Message[] {
    return fetched.flatMap((message) => {
      try {
        return { fetched: message, leads: message.leads() };
      } catch (error) {
        message.nak();
        this.#observer.failed(error);
        return [];
      }
    });
  }

  async #store(messages: readonly Message[]): Promise<void> {
    try {
      const refused: ReturnType<typeof toQuarantined>[] = [];
      const items = messages.flatMap(({ leads }) => leads.map((lead) => ({ lead: storedLater(lead) })));
      await insertEach(this.#stores.leads, items, {
        stored: () => undefined,
        rejected: ({ lead }, error) => refused.push(toQuarantined(lead, error)),
      });
      if (refused.length > 0) {
        await this.#stores.quarantine.add(refused);
        this.#observer.quarantined(refused.length);
      }
      this.#breaker.recordResponse();
      this.#observer.drained(items.length - refused.length);
      for (const { fetched } of messages) fetched.acknowledge();
    } catch (error) {
      if (isOutage(error)) {
        this.#breaker.recordFailure(error);
        throw error;
      }
      this.#breaker.recordResponse();
      if (messages.length === 1) throw error;
      await this.#storeEach(messages);
    }
  }

  /** Stores messages one by one, so that a message that fails does not delay the others. */
  async #storeEach(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      try {
        await this.#store([message]);
      } catch (error) {
        message.fetched.nak();
        if (!isOutage(error)) this.#observer.failed(error);
      }
    }
  }

  /** Waits while requests have priority. */
  async #yield(signal: AbortSignal): Promise<void> {
    const end = performance.now() + maxYieldMs;
    while (this.#isBusy() && performance.now() < end && !signal.aborted) {
      await sleep(20, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Waits for the inserts in progress. All other leads stay in the buffer. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop[Symbol.asyncDispose]()));
  }
}

/** Groups messages into batches that are stored together. */
function toBatches(messages: readonly Message[]): Message[][] {
  const batches: Message[][] = [];
  let leads = Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (const message of messages) {
    leads += message.leads.length;
    bytes += message.fetched.bytes;
    if (leads > maxLeads || bytes > maxBytes) {
      batches.push([]);
      leads = message.leads.length;
      bytes = message.fetched.bytes;
    }
    batches.at(-1)?.push(message);
  }
  return batches;
}
