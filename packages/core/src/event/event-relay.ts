import { setTimeout as sleep } from 'node:timers/promises';
import { BatchSize } from '../background/batch-size.ts';
import type { EventPublisher } from '../nats/event-publisher.ts';
import type { EventOutbox } from './event-outbox.ts';

/** Events handed over at once: a tenth of a second of work. */
const maxAtOnce = 1_000;
/** Where they cannot be told in time, as by a broker whose disk is slow. */
const minAtOnce = 10;
/** How long to wait where there is nothing, and where another instance is at it, in milliseconds. */
const idleMs = 100;
const othersTurnMs = 500;
const leastPauseMs = 250;
const longestPauseMs = 5_000;

/** Tells the events of the outbox, for as long as it stands. Any number of instances may: one at a time does. */
export class EventRelay implements AsyncDisposable {
  readonly #outbox: EventOutbox;
  readonly #publisher: Pick<EventPublisher, 'isConnected' | 'publish'>;
  readonly #onError: (error: unknown) => void;
  readonly #isOver = new AbortController();
  readonly #running: Promise<void>;
  readonly #size = new BatchSize({ fewest: minAtOnce, most: maxAtOnce });
  #told = 0;

  /** @param onError hears of the first failure of a row of them. */
  constructor(
    outbox: EventOutbox,
    publisher: Pick<EventPublisher, 'isConnected' | 'publish'>,
    onError: (error: unknown) => void,
  ) {
    this.#outbox = outbox;
    this.#publisher = publisher;
    this.#onError = onError;
    this.#running = this.#run();
  }

  /** How many events this instance has told. */
  get told(): number {
    return this.#told;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isOver.signal.aborted) {
      let pauseMs: number;
      try {
        pauseMs = await this.#tell();
        failures = 0;
        this.#size.succeeded();
      } catch (error) {
        this.#size.failed();
        if (failures === 0) this.#onError(error);
        pauseMs = Math.min(leastPauseMs * 2 ** failures, longestPauseMs);
        failures += 1;
      }
      if (pauseMs > 0)
        await sleep(pauseMs, undefined, { signal: this.#isOver.signal }).catch(() => undefined);
    }
  }

  /** @returns how long to wait for the next time, in milliseconds. */
  async #tell(): Promise<number> {
    if (!this.#publisher.isConnected) return leastPauseMs;
    const told = await this.#outbox.handOver(this.#size.now, (events) => this.#publisher.publish(events));
    if (told === undefined) return othersTurnMs;
    this.#told += told;
    return told === 0 ? idleMs : 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver.abort();
    await this.#running;
  }
}
