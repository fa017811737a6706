import type { EventOutbox } from './event-outbox.ts';

/** How often it is looked at, in milliseconds. */
const everyMs = 5_000;

/** Looks at the outbox every few seconds: for how long its oldest event has waited, and whether that is too long. */
export class OutboxMonitor implements AsyncDisposable {
  readonly #outbox: Pick<EventOutbox, 'dropBefore' | 'oldest'>;
  readonly #options: {
    readonly keepMs?: number | undefined;
    readonly onDropped: (events: number) => void;
    readonly onError: (error: unknown) => void;
  };
  readonly #timer: NodeJS.Timeout;
  #working: Promise<void> | undefined;
  #oldestAt: Date | undefined;

  /** @param options.keepMs drops what is older, in milliseconds; without it nothing is dropped. */
  constructor(
    outbox: Pick<EventOutbox, 'dropBefore' | 'oldest'>,
    options: {
      keepMs?: number | undefined;
      onDropped: (events: number) => void;
      onError: (error: unknown) => void;
    },
  ) {
    this.#outbox = outbox;
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#working ??= this.#look().finally(() => {
        this.#working = undefined;
      });
    }, everyMs).unref();
  }

  /** For how long the oldest event had waited when it was last looked at, in seconds. */
  get waitedSeconds(): number {
    return this.#oldestAt === undefined ? 0 : (Date.now() - this.#oldestAt.getTime()) / 1000;
  }

  async #look(): Promise<void> {
    const { keepMs, onDropped, onError } = this.#options;
    try {
      this.#oldestAt = await this.#outbox.oldest();
      if (keepMs === undefined || this.#oldestAt === undefined) return;
      const before = new Date(Date.now() - keepMs);
      if (this.#oldestAt >= before) return;
      const dropped = await this.#outbox.dropBefore(before);
      if (dropped > 0) onDropped(dropped);
    } catch (error) {
      onError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
  }
}
