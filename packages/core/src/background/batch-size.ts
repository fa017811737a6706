interface BatchSizeOptions {
  readonly min: number;
  readonly max: number;
  /** The longest duration of the work, in milliseconds. */
  readonly longestMs?: number;
}

/**
 * The number of items to process at once. It shrinks to a quarter after a failure, because a large batch may have timed
 * out, and doubles after each success. With a longest duration, it halves after a success that took longer.
 */
export class BatchSize {
  readonly #min: number;
  readonly #max: number;
  readonly #longestMs: number;
  #current: number;

  constructor({ min, max, longestMs = Number.POSITIVE_INFINITY }: BatchSizeOptions) {
    this.#min = min;
    this.#max = max;
    this.#longestMs = longestMs;
    this.#current = max;
  }

  get current(): number {
    return this.#current;
  }

  /** Does some work, and adjusts the size to its outcome. */
  async adjust<Result>(work: () => Promise<Result>): Promise<Result> {
    const startMs = performance.now();
    try {
      const result = await work();
      this.#multiply(performance.now() - startMs > this.#longestMs ? 1 / 2 : 2);
      return result;
    } catch (error) {
      this.#multiply(1 / 4);
      throw error;
    }
  }

  #multiply(factor: number): void {
    this.#current = Math.min(this.#max, Math.max(this.#min, Math.floor(this.#current * factor)));
  }
}
