import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '@leads/core/errors';
import {
  insertEach,
  type LeadQuarantine,
  type LeadStore,
  type LeadToInsert,
  refusalReason,
} from '@leads/core/lead';
import type { BufferedLeads, LeadBuffer } from '@leads/core/nats';
import type { Breaker } from './breaker.ts';

/** Messages taken at once: of an edge with few connections they hold a lead or two each. */
const maxMessages = 1_000;
/** Leads in one insert: as many as in one of those that requests wait for, twice. */
const maxLeads = 1_000;
/** How many take and store side by side, so that one takes while the other stores. */
const lanes = 2;
const pauseMs = 250;
const longestPauseMs = 1_000;
/** For how long requests may go first, in milliseconds: after that leads are drained all the same. */
const longestYieldMs = 1_000;

/** What goes out of the buffer. */
export interface DrainObserver {
  drained(leads: number): void;
  quarantined(leads: number): void;
  /** The first failure of a row of them, if it is not that Postgres or the broker is away. */
  failed(error: unknown): void;
}

/** A message with what was in it. */
interface Message {
  readonly taken: BufferedLeads;
  readonly leads: readonly LeadToInsert[];
}

/**
 * Brings leads from the buffer to Postgres, while that is there, for as long as it stands: behind those that requests
 * wait for. A message is acknowledged once all its leads are committed, or in the quarantine. Any number of instances
 * may do it at once.
 */
export class LeadDrainer implements AsyncDisposable {
  readonly #buffer: Pick<LeadBuffer, 'isConnected' | 'take'>;
  readonly #stores: { leads: Pick<LeadStore, 'insert'>; quarantine: Pick<LeadQuarantine, 'add'> };
  readonly #breaker: Breaker;
  readonly #isBusy: () => boolean;
  readonly #observer: DrainObserver;
  readonly #isOver = new AbortController();
  readonly #running: Promise<unknown>;
  #isTaking = true;

  /** @param options.isBusy whether there is much else to store. */
  constructor(options: {
    buffer: Pick<LeadBuffer, 'isConnected' | 'take'>;
    stores: { leads: Pick<LeadStore, 'insert'>; quarantine: Pick<LeadQuarantine, 'add'> };
    breaker: Breaker;
    isBusy: () => boolean;
    observer: DrainObserver;
  }) {
    this.#buffer = options.buffer;
    this.#stores = options.stores;
    this.#breaker = options.breaker;
    this.#isBusy = options.isBusy;
    this.#observer = options.observer;
    this.#running = Promise.all(Array.from({ length: lanes }, () => this.#run()));
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isOver.signal.aborted) {
      try {
        await this.#drain();
        failures = 0;
      } catch (error) {
        if (failures === 0 && !isOutage(error)) this.#observer.failed(error);
        await this.#pause(Math.min(pauseMs * 2 ** failures, longestPauseMs));
        failures += 1;
      }
    }
  }

  /** Takes some messages and stores them. @throws what keeps it from that. */
  async #drain(): Promise<void> {
    const { isOpen } = this.#breaker;
    if (!this.#buffer.isConnected || (isOpen && !this.#breaker.tryAgain())) {
      await this.#pause(pauseMs);
      return;
    }
    const messages = this.#read(await this.#take(isOpen ? 1 : maxMessages));
    const left = inParts(messages);
    try {
      for (let part = left[0]; part !== undefined && !this.#isOver.signal.aborted; part = left[0]) {
        await this.#yield();
        await this.#store(part);
        left.shift();
      }
    } finally {
      for (const { taken } of left.flat()) taken.giveBack();
    }
  }

  async #take(most: number): Promise<BufferedLeads[]> {
    try {
      const taken = await this.#buffer.take(most);
      this.#isTaking = true;
      return taken;
    } catch (error) {
      // Of a broker that is away its connection tells; nobody of one that is there and has no stream for us.
      if (this.#isTaking && this.#buffer.isConnected) {
        this.#isTaking = false;
        this.#observer.failed(error);
      }
      throw error;
    }
  }

  /** What is no message of ours stays in the buffer, where somebody may look at it. */
  #read(taken: readonly BufferedLeads[]): Message[] {
    return taken.flatMap((message) => {
      try {
        return { taken: message, leads: message.leads() };
      } catch (error) {
        message.giveBack();
        this.#observer.failed(error);
        return [];
      }
    });
  }

  async #store(messages: readonly Message[]): Promise<void> {
    try {
      const refused: { lead: LeadToInsert; reason: string | undefined }[] = [];
      const items = messages.flatMap(({ leads }) => leads.map((lead) => ({ lead })));
      await insertEach(this.#stores.leads, items, {
        stored: () => undefined,
        refused: ({ lead }, error) => refused.push({ lead, reason: refusalReason(error) }),
      });
      if (refused.length > 0) {
        await this.#stores.quarantine.add(refused);
        this.#observer.quarantined(refused.length);
      }
      this.#breaker.answered();
      this.#observer.drained(items.length - refused.length);
      for (const { taken } of messages) taken.acknowledge();
    } catch (error) {
      if (isOutage(error)) {
        this.#breaker.failed(error);
        throw error;
      }
      this.#breaker.answered();
      if (messages.length === 1) throw error;
      await this.#storeEach(messages);
    }
  }

  /** One of them is at fault, and is not to hold up the others. */
  async #storeEach(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      try {
        await this.#store([message]);
      } catch (error) {
        message.taken.giveBack();
        if (!isOutage(error)) this.#observer.failed(error);
      }
    }
  }

  async #yield(): Promise<void> {
    const end = performance.now() + longestYieldMs;
    while (this.#isBusy() && performance.now() < end && !this.#isOver.signal.aborted) await this.#pause(20);
  }

  async #pause(timeMs: number): Promise<void> {
    await sleep(timeMs, undefined, { signal: this.#isOver.signal }).catch(() => undefined);
  }

  /** Waits for what is under way; the rest stays in the buffer. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver.abort();
    await this.#running;
  }
}

/** Messages in groups that are stored together. */
function inParts(messages: readonly Message[]): Message[][] {
  const parts: Message[][] = [];
  let leads = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    leads += message.leads.length;
    if (leads > maxLeads) {
      parts.push([]);
      leads = message.leads.length;
    }
    parts.at(-1)?.push(message);
  }
  return parts;
}
