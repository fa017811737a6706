/** Consecutive failures that open the breaker. Fewer failures may be caused by one broken connection. */
const failureThreshold = 3;
/** The pause before the next probe: after a failed one, and while one is unanswered, in milliseconds. */
const pauseMs = 500;
const probeTimeoutMs = 2_000;

/**
 * Detects whether Postgres is unavailable, by the outcome of real inserts. While the breaker is open, no request waits
 * for Postgres. One insert at a time still probes Postgres; the first response closes the breaker.
 */
export class CircuitBreaker {
  readonly #onChange: (isOpen: boolean, reason?: unknown) => void;
  #isOpen = false;
  #failures = 0;
  #respondedAt = 0;
  #nextProbeAt = 0;

  /** @param onChange called once for every change. */
  constructor(onChange: (isOpen: boolean, reason?: unknown) => void) {
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isProbeDue(): boolean {
    return performance.now() >= this.#nextProbeAt;
  }

  /** Takes the next probe if it is due. Returns whether the caller must make it. */
  tryProbe(): boolean {
    if (!this.isProbeDue) return false;
    this.#nextProbeAt = performance.now() + probeTimeoutMs;
    return true;
  }

  /** Records that Postgres responded, even if it rejected a row. */
  recordResponse(): void {
    this.#failures = 0;
    this.#respondedAt = performance.now();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onChange(false);
  }

  /** Records that Postgres could not be reached. */
  recordFailure(reason: unknown): void {
    this.#failures += 1;
    if (this.#isOpen) this.#nextProbeAt = performance.now() + pauseMs;
    else if (this.#failures >= failureThreshold) this.#open(reason);
  }

  /**
   * Records that an insert timed out. The breaker opens unless Postgres responded to another insert in the meantime.
   *
   * @param startedAt when the insert began, by `performance.now()`.
   */
  recordTimeout(startedAt: number): void {
    if (!this.#isOpen && this.#respondedAt < startedAt) this.#open(new Error('Postgres does not respond'));
  }

  #open(reason: unknown): void {
    this.#isOpen = true;
    this.#nextProbeAt = performance.now() + pauseMs;
    this.#onChange(true, reason);
  }
}
