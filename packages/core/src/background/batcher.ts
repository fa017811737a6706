import { LeadsError } from '@leads/core/errors';
import { FairBacklog } from '@leads/core/limits';

/** The limits of a batcher. */
export interface BatchBounds {
  /** The maximum of items in one batch. */
  readonly rows: number;
  /**
   * The characters of the texts of a batch from which it gets no further item. Items of long texts take Postgres as long as
   * many others, and the items of other workspaces wait meanwhile.
   */
  readonly characters: number;
  /** The maximum of batches in flight to the database. */
  readonly inFlight: number;
  /** How long a partial batch waits while another batch is in flight, in milliseconds. A full batch does not wait. */
  readonly partialBatchDelayMs: number;
  /** The maximum of waiting items, and of the characters of their texts. One workspace gets at most half of each. */
  readonly waitingRows: number;
  readonly waitingCharacters: number;
  /** How long an item may wait for its batch, in milliseconds. The time does not run while this process is suspended. */
  readonly waitMs: number;
}

/*
 * One batch at a time is the fastest, because more leads share the fixed cost of a batch. With 64 connections on 2 cores,
 * 1, 2 and 3 batches in flight store 9.2, 9.0 and 8.5 thousand leads a second. A lead takes 72, 82 and 86 us of CPU time
 * in this process, and 62, 67 and 70 us in Postgres. These are medians of 3 rounds of 4 s.
 *
 * A lock or a slow disk may delay one batch, and must not delay the others. After 10 times the usual duration, the next
 * batch is sent.
 */
const defaultBounds: BatchBounds = {
  rows: 500,
  characters: 128 * 1024,
  inFlight: 4,
  partialBatchDelayMs: 50,
  waitingRows: 5_000,
  waitingCharacters: 32 * 1024 * 1024,
  waitMs: 2_000,
};

/** The pause between two checks for expired items, in milliseconds. */
const expiryCheckMs = 250;

/** An item that waits for its batch, or is in one. */
export interface Batched<Item, Result> {
  readonly item: Item;
  /** The characters of its texts. */
  readonly size: number;
  readonly since: number;
  /** The number of checks for expired items before it. */
  readonly check: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** The work of a batcher. */
export interface BatchWork<Item, Result> {
  workspaceOf(item: Item): string;
  /** Returns the approximate memory of an item, as the length of its texts. */
  charactersOf(item: Item): number;
  /** Processes a batch, and resolves or rejects each item. An error that it throws rejects the others. */
  process(batch: readonly Batched<Item, Result>[]): Promise<void>;
}

/** Is notified of the batches and rejected items of a batcher. */
export interface BatchObserver {
  /** Called when a batch is sent, with the waiting time of each item in milliseconds. */
  batch(waitsMs: readonly number[]): void;
  /** Called when an item is rejected, because the queue is full or the item waited too long. */
  shed(): void;
}

/**
 * Combines items of concurrent requests into batches. A batch forms while another is in flight, so that a single item is
 * processed without delay. A batch holds items of several workspaces, which take turns if more items wait than fit.
 */
export class Batcher<Item, Result> implements AsyncDisposable {
  readonly #work: BatchWork<Item, Result>;
  readonly #bounds: BatchBounds;
  readonly #observer: BatchObserver | undefined;
  readonly #waiting: FairBacklog<Batched<Item, Result>>;
  #inFlight = 0;
  #isScheduled = false;
  #checks = 0;
  #partialBatchTimer: NodeJS.Timeout | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  constructor(
    work: BatchWork<Item, Result>,
    options: { bounds?: Partial<BatchBounds> | undefined; observer?: BatchObserver | undefined } = {},
  ) {
    this.#work = work;
    this.#bounds = { ...defaultBounds, ...options.bounds };
    this.#observer = options.observer;
    this.#waiting = new FairBacklog({
      items: this.#bounds.waitingRows,
      size: this.#bounds.waitingCharacters,
    });
  }

  /** The number of items that wait for a batch, and of batches in flight. */
  get load(): { readonly waiting: number; readonly inFlight: number } {
    return { waiting: this.#waiting.count, inFlight: this.#inFlight };
  }

  /**
   * Checks for room in the queue. Call it first, so that a rejected request costs little.
   *
   * @param workspaceId without it, checks whether a workspace without waiting items has room.
   * @throws LeadsError `unavailable` if there is no room.
   */
  checkRoom(workspaceId = ''): void {
    if (this.#waiting.hasRoom(workspaceId)) return;
    this.#observer?.shed();
    throw overloaded();
  }

  /**
   * Processes an item with a batch.
   *
   * @throws LeadsError `unavailable` if there is no room or the item waited too long; the errors of the work.
   */
  take(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const workspaceId = this.#work.workspaceOf(item);
      this.checkRoom(workspaceId);
      const size = this.#work.charactersOf(item);
      const waiting = { item, size, since: performance.now(), check: this.#checks, resolve, reject };
      this.#waiting.add(workspaceId, waiting);
      this.#schedule();
    });
  }

  /** Schedules the next batch after the current turn of the event loop, so that it includes all items of the turn. */
  #schedule(mayDelay = true): void {
    if (this.#isScheduled) return;
    const { inFlight, rows, partialBatchDelayMs } = this.#bounds;
    if (this.#inFlight >= inFlight) {
      // The batches in flight may take long. Waiting items must be rejected in time.
      this.#expiryTimer ??= setInterval(() => this.#dropExpired(), expiryCheckMs).unref();
      return;
    }
    if (mayDelay && this.#inFlight > 0 && this.#waiting.count < rows) {
      this.#partialBatchTimer ??= setTimeout(() => {
        this.#partialBatchTimer = undefined;
        this.#schedule(false);
      }, partialBatchDelayMs);
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#waiting.count === 0) {
      if (this.#inFlight === 0) this.#onIdle?.();
      return;
    }
    clearTimeout(this.#partialBatchTimer);
    this.#partialBatchTimer = undefined;
    const batch = this.#waiting.take(this.#bounds.rows, this.#bounds.characters);
    if (this.#observer !== undefined) {
      const now = performance.now();
      this.#observer.batch(batch.map(({ since }) => now - since));
    }
    this.#inFlight += 1;
    void this.#process(batch).finally(() => {
      this.#inFlight -= 1;
      if (this.#waiting.count > 0) this.#schedule();
      else if (this.#inFlight === 0) this.#onIdle?.();
    });
    if (this.#waiting.count > 0) this.#schedule();
  }

  async #process(batch: readonly Batched<Item, Result>[]): Promise<void> {
    try {
      await this.#work.process(batch);
    } catch (error) {
      // This has no effect on items that are settled already.
      for (const { reject } of batch) reject(error);
    }
  }

  /**
   * Rejects items that waited too long. Their age is counted in checks. A process that stood still is late with one
   * check only, so it does not reject items although Postgres is free.
   */
  #dropExpired(): void {
    this.#checks += 1;
    const newestExpired = this.#checks - this.#bounds.waitMs / expiryCheckMs;
    for (const { reject } of this.#waiting.takeWhile(({ check }) => check < newestExpired)) {
      this.#observer?.shed();
      reject(overloaded());
    }
    if (this.#waiting.count === 0) {
      clearInterval(this.#expiryTimer);
      this.#expiryTimer = undefined;
    }
  }

  /** Waits until all accepted items are processed or rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#waiting.count === 0 && this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

function overloaded(): LeadsError {
  return new LeadsError('unavailable', { retryAfterSeconds: 1 });
}
