import { isOutage } from './errors.ts';

/** How long to wait before it is tried again whether the store is back, in milliseconds. */
const retryMs = 1_000;

/** What is known of whether a store answers. Caches that ask the same store share one. */
export class DatabaseHealth {
  #isAway = false;
  #trying = 0;
  #triedAt = 0;
  #failedAt = 0;

  /** Whether the last that was heard of it is that it cannot be reached. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Whether somebody waits for its answer, and not for so long that it may be the connection that is dead. */
  get isTried(): boolean {
    return this.#trying > 0 && performance.now() - this.#triedAt < retryMs;
  }

  /** Whether it is time to see if it is back. */
  get isDue(): boolean {
    return !this.isTried && performance.now() - this.#failedAt >= retryMs;
  }

  /** Asks the store, and learns from how that ends. */
  async ask<Found>(find: () => Promise<Found>): Promise<Found> {
    this.#trying += 1;
    this.#triedAt = performance.now();
    try {
      const found = await find();
      this.#isAway = false;
      return found;
    } catch (error) {
      if (isOutage(error)) this.noteAway();
      else this.#isAway = false;
      throw error;
    } finally {
      this.#trying -= 1;
    }
  }

  /** It does not answer, or not in time. */
  noteAway(): void {
    this.#isAway = true;
    this.#failedAt = performance.now();
  }
}
