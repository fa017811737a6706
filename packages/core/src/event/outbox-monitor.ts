import { BackgroundLoop } from '../background/background-loop.ts';
import type { EventOutbox } from './event-outbox.ts';

const intervalMs = 5_000;

/** Measures every few seconds how long the oldest event of the outbox has waited. */
export class OutboxMonitor implements AsyncDisposable {
  readonly #loop: BackgroundLoop;
  #oldestAt: Date | undefined;

  /** @param onError called for every failed check. */
  constructor(outbox: Pick<EventOutbox, 'oldest'>, onError: (error: unknown) => void) {
    const step = async () => {
      this.#oldestAt = await outbox.oldest();
      return intervalMs;
    };
    this.#loop = new BackgroundLoop({
      step,
      onError,
      reportsEveryError: true,
      firstPauseMs: intervalMs,
      retryMs: intervalMs,
    });
  }

  /** The age of the oldest event at the last check, in seconds. */
  get waitedSeconds(): number {
    return this.#oldestAt === undefined ? 0 : (Date.now() - this.#oldestAt.getTime()) / 1000;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
