import type { OverviewStore } from './overview-store.ts';

/** How often, in milliseconds, and how many leads at once: some tenths of a second of work at most. */
const everyMs = 5_000;
const atOnce = 20_000;

/** Adds up what was counted lately, every few seconds: no request waits for it. */
export class TallyKeeper implements AsyncDisposable {
  readonly #store: Pick<OverviewStore, 'addUp'>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
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
      while (!this.#isOver && (await this.#store.addUp(atOnce)) >= atOnce);
    } catch (error) {
      this.#onError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#isOver = true;
    await this.#working;
  }
}
