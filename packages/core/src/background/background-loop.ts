/** A pause that only {@link BackgroundLoop.wake} or disposal ends. */
export const untilWoken = Number.POSITIVE_INFINITY;

export interface BackgroundLoopOptions {
  /**
   * Does one piece of the work.
   *
   * @param signal aborts at disposal.
   * @returns the pause before the next step, in milliseconds; 0 for none.
   */
  readonly step: (signal: AbortSignal) => Promise<number>;
  /** Called once when a streak of failures begins. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Whether `onError` is called for every failure of a streak. */
  readonly reportsEveryError?: boolean;
  /** The pause after a failure, in milliseconds. It doubles from `min` to `max` during a streak; a number is constant. */
  readonly retryMs: number | { readonly min: number; readonly max: number };
  /** The pause before the first step, in milliseconds. Without it, the first step begins in the constructor. */
  readonly firstPauseMs?: number;
  /** Whether disposal runs one more step, which writes what is still pending. */
  readonly hasFinalStep?: boolean;
}

/**
 * Runs a step repeatedly, with a pause after each, until it is disposed. Steps never overlap. A step that throws is
 * retried with exponential backoff. Pauses do not keep the process alive.
 */
export class BackgroundLoop implements AsyncDisposable {
  readonly #options: BackgroundLoopOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #isWoken = false;
  #endPause: () => void = () => undefined;
  #failures = 0;

  constructor(options: BackgroundLoopOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Runs the next step without a pause: at once, or after the step in progress. */
  wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  async #run(): Promise<void> {
    const { firstPauseMs = 0, hasFinalStep = false } = this.#options;
    let pauseMs = firstPauseMs;
    while (!this.#stop.signal.aborted) {
      if (pauseMs > 0 && !this.#isWoken) await this.#pause(pauseMs);
      if (this.#stop.signal.aborted) break;
      this.#isWoken = false;
      pauseMs = await this.#attempt();
    }
    if (hasFinalStep) await this.#attempt();
  }

  async #attempt(): Promise<number> {
    const { step, onError, reportsEveryError = false, retryMs } = this.#options;
    try {
      const pauseMs = await step(this.#stop.signal);
      this.#failures = 0;
      return pauseMs;
    } catch (error) {
      if (this.#failures === 0 || reportsEveryError) onError?.(error);
      const { min, max } = typeof retryMs === 'number' ? { min: retryMs, max: retryMs } : retryMs;
      const pauseMs = Math.min(min * 2 ** this.#failures, max);
      this.#failures += 1;
      return pauseMs;
    }
  }

  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(pauseMs) ? setTimeout(resolve, pauseMs).unref() : undefined;
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the pause, or waits for the step in progress. Runs the final step if there is one. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#endPause();
    await this.#running;
  }
}
