/**
 * The number of items to process at once. It shrinks to a quarter after a failure, because a large batch may have timed
 * out, and doubles after each success.
 */
export class BatchSize {
  readonly #min: number;
  readonly #max: number;
  #current: number;

  constructor({ min, max }: { min: number; max: number }) {
    this.#min = min;
    this.#max = max;
    this.#current = max;
  }

  get current(): number {
    return this.#current;
  }

  /** Does some work, and adjusts the size to its outcome. */
  async adjust<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      this.#current = Math.min(this.#max, this.#current * 2);
      return result;
    } catch (error) {
      this.#current = Math.max(this.#min, Math.floor(this.#current / 4));
      throw error;
    }
  }
}
