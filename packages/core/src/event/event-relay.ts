import { BackgroundLoop } from '../background/background-loop.ts';
import { BatchSize } from '../background/batch-size.ts';
import type { EventPublisher } from '../nats/event-publisher.ts';
import type { EventOutbox } from './event-outbox.ts';

/** The largest batch. It takes about 0.1 s to publish. */
const maxBatchSize = 1_000;
/** The smallest batch, for a broker whose disk is slow. */
const minBatchSize = 10;
/** Pauses in milliseconds: while the outbox is empty, while another instance publishes, and while disconnected. */
const emptyMs = 100;
const otherInstanceMs = 500;
const disconnectedMs = 250;
const retryMs = { min: 250, max: 5_000 };

/** Publishes the events of the outbox until it is disposed. Of several instances, one publishes at a time. */
export class EventRelay implements AsyncDisposable {
  readonly #outbox: Pick<EventOutbox, 'publishNext'>;
  readonly #publisher: Pick<EventPublisher, 'isConnected' | 'publish'>;
  readonly #batchSize = new BatchSize({ min: minBatchSize, max: maxBatchSize });
  readonly #loop: BackgroundLoop;
  #publishedCount = 0;

  /** @param onError called once when a streak of failures begins. */
  constructor(
    outbox: Pick<EventOutbox, 'publishNext'>,
    publisher: Pick<EventPublisher, 'isConnected' | 'publish'>,
    onError: (error: unknown) => void,
  ) {
    this.#outbox = outbox;
    this.#publisher = publisher;
    this.#loop = new BackgroundLoop({ step: () => this.#publishNext(), onError, retryMs });
  }

  /** The number of events that this instance has published. */
  get publishedCount(): number {
    return this.#publishedCount;
  }

  async #publishNext(): Promise<number> {
    if (!this.#publisher.isConnected) return disconnectedMs;
    const count = await this.#batchSize.adjust(() =>
      this.#outbox.publishNext(this.#batchSize.current, (events) => this.#publisher.publish(events)),
    );
    if (count === undefined) return otherInstanceMs;
    this.#publishedCount += count;
    return count === 0 ? emptyMs : 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
