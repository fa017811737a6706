import { BackgroundLoop } from '../background/background-loop.ts';
import { BatchSize } from '../background/batch-size.ts';
import type { EventPublisher } from '../nats/event-publisher.ts';
import type { EventLog } from './event-log.ts';
import type { EventOutbox } from './event-outbox.ts';

/** The largest batch. It takes about 0.1 s to publish. */
const maxBatchSize = 1_000;
/** The smallest batch, for a broker whose disk is slow. */
const minBatchSize = 10;
/** A batch of a smaller part of its limit means that the outbox is nearly empty. Other batches end before their limit, too. */
const fullPart = 1 / 4;
/**
 * Pauses in milliseconds: while the outbox is nearly empty, while another instance publishes, and while disconnected. Without
 * the first one, each batch would have one or two events while single leads are stored. A batch costs Postgres 1 to 2 ms.
 */
const nearlyEmptyMs = { nats: 100, log: 250 };
const otherInstanceMs = 500;
const disconnectedMs = 250;
const retryMs = { min: 250, max: 5_000 };

/** What the events of the outbox are published to. */
interface RelayTarget {
  readonly isConnected: boolean;
  /** The pause while the outbox is nearly empty, in milliseconds. */
  readonly nearlyEmptyMs: number;
  /** Publishes about `limit` events. Returns their number; `undefined` while another instance publishes. */
  publishNext(limit: number): Promise<number | undefined>;
}

/** Returns NATS as the target of events. */
export const publishToNats = (
  outbox: Pick<EventOutbox, 'publishNext'>,
  publisher: Pick<EventPublisher, 'isConnected' | 'publish'>,
): RelayTarget => ({
  get isConnected() {
    return publisher.isConnected;
  },
  nearlyEmptyMs: nearlyEmptyMs.nats,
  publishNext: (limit) => outbox.publishNext(limit, (events) => publisher.publish(events)),
});

/** Returns the event log as the target of events. */
export const publishToLog = (log: Pick<EventLog, 'publishNext'>): RelayTarget => ({
  isConnected: true,
  // Readers poll the log at the same interval.
  nearlyEmptyMs: nearlyEmptyMs.log,
  publishNext: (limit) => log.publishNext(limit),
});

/** Publishes the events of the outbox until it is disposed. Of several instances, one publishes at a time. */
export class EventRelay implements AsyncDisposable {
  readonly #target: RelayTarget;
  readonly #batchSize = new BatchSize({ min: minBatchSize, max: maxBatchSize });
  readonly #loop: BackgroundLoop;
  #publishedCount = 0;

  /** @param onError called once when a streak of failures begins. */
  constructor(target: RelayTarget, onError: (error: unknown) => void) {
    this.#target = target;
    this.#loop = new BackgroundLoop({ step: () => this.#publishNext(), onError, retryMs });
  }

  /** The number of events that this instance has published. */
  get publishedCount(): number {
    return this.#publishedCount;
  }

  async #publishNext(): Promise<number> {
    if (!this.#target.isConnected) return disconnectedMs;
    const limit = this.#batchSize.current;
    const count = await this.#batchSize.adjust(() => this.#target.publishNext(limit));
    if (count === undefined) return otherInstanceMs;
    this.#publishedCount += count;
    return count < limit * fullPart ? this.#target.nearlyEmptyMs : 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
