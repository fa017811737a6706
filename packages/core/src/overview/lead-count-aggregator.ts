import { BatchSize } from '../background/batch-size.ts';
import type { OverviewStore } from './overview-store.ts';

/** How often, in milliseconds. */
const everyMs = 5_000;
/** How many leads at once: 0.7 s of work where each is of a sub-id of its own, and some hundredths where few differ. */
export const addedAtOnce = 5_000;
/** Where that takes longer than a statement may. */
const fewest = 100;

/** Adds up what was counted lately, every few seconds: no request waits for it. */
export class LeadCountAggregator implements AsyncDisposable {
  readonly #store: Pick<OverviewStore, 'addUp'>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #size = new BatchSize({ fewest, most: addedAtOnce });
  #working: Promise<void> | undefined;
  #isOver = false;

  constructor(store: Pick<OverviewStore, 'addUp'>, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
    this.#timer = setInterval(() => {
      this.#working ??= this.#addUp().finally(() => {
        this.#working = undefined;
      });
    }, everyMs).unref();
  }

  async #addUp(): Promise<void> {
    try {
      while (!this.#isOver && (await this.#store.addUp(this.#size.now)) >= this.#size.now) {
        this.#size.succeeded();
      }
    } catch (error) {
      // It may have taken too long: the same again would too, and what waits would only become more.
      this.#size.failed();
      this.#onError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#isOver = true;
    await this.#working;
  }
}
