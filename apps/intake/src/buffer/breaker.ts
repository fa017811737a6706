/** Failures in a row that say that Postgres is away, and not one connection. */
const enoughFailures = 3;
/** How long to wait with the next try after one that failed, and after one that does not end, in milliseconds. */
const pauseMs = 500;
const longestTryMs = 2_000;

/**
 * Tells whether Postgres is away, by what becomes of real inserts. While it is open nobody is to wait for Postgres; an
 * insert now and then, one at a time, tries it all the same, and the first that gets through closes it.
 */
export class Breaker {
  readonly #onChange: (isOpen: boolean, reason?: unknown) => void;
  #isOpen = false;
  #failures = 0;
  #answeredAt = 0;
  #nextTryAt = 0;

  /** @param onChange is told once a change. */
  constructor(onChange: (isOpen: boolean, reason?: unknown) => void) {
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether it is time for another try, which is then the caller's to make. */
  tryAgain(): boolean {
    const now = performance.now();
    if (now < this.#nextTryAt) return false;
    this.#nextTryAt = now + longestTryMs;
    return true;
  }

  /** Postgres has answered, if only to refuse a row. */
  answered(): void {
    this.#failures = 0;
    this.#answeredAt = performance.now();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onChange(false);
  }

  /** Postgres could not be reached. */
  failed(reason: unknown): void {
    this.#failures += 1;
    if (this.#isOpen) this.#nextTryAt = performance.now() + pauseMs;
    else if (this.#failures >= enoughFailures) this.#open(reason);
  }

  /** What was begun at a time (`performance.now()`) has waited long enough: Postgres is away if it was silent since. */
  late(since: number): void {
    if (!this.#isOpen && this.#answeredAt < since) this.#open(new Error('Postgres does not answer'));
  }

  #open(reason: unknown): void {
    this.#isOpen = true;
    this.#nextTryAt = performance.now() + pauseMs;
    this.#onChange(true, reason);
  }
}
