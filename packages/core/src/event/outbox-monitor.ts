import { BackgroundLoop } from '../background/background-loop.ts';
import type { EventOutbox } from './event-outbox.ts';

const intervalMs = 5_000;

type MonitoredOutbox = Pick<EventOutbox, 'dropBefore' | 'oldest'>;

/** Measures every few seconds how long the oldest event of the outbox has waited, and drops expired events. */
export class OutboxMonitor implements AsyncDisposable {
  readonly #loop: BackgroundLoop;
  #oldestAt: Date | undefined;

  /**
   * @param options.keepMs drops older events, in milliseconds; without it, no event is dropped.
   * @param options.onError called for every failed check.
   */
  constructor(
    outbox: MonitoredOutbox,
    {
      keepMs,
      onDropped,
      onError,
    }: {
      readonly keepMs?: number | undefined;
      readonly onDropped: (events: number) => void;
      readonly onError: (error: unknown) => void;
    },
  ) {
    const check = async () => {
      this.#oldestAt = await outbox.oldest();
      if (keepMs === undefined || this.#oldestAt === undefined) return intervalMs;
      const expiresBefore = new Date(Date.now() - keepMs);
      if (this.#oldestAt >= expiresBefore) return intervalMs;
      const dropped = await outbox.dropBefore(expiresBefore);
      if (dropped > 0) onDropped(dropped);
      return intervalMs;
    };
    this.#loop = new BackgroundLoop({
      step: check,
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
