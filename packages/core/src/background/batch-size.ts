/** How much is done at once: less where it fails, which may be for taking too long, until more goes again. */
export class BatchSize {
  readonly #fewest: number;
  readonly #most: number;
  #now: number;

  constructor({ fewest, most }: { fewest: number; most: number }) {
    this.#fewest = fewest;
    this.#most = most;
    this.#now = most;
  }

  get now(): number {
    return this.#now;
  }

  succeeded(): void {
    this.#now = Math.min(this.#most, this.#now * 2);
  }

  failed(): void {
    this.#now = Math.max(this.#fewest, Math.floor(this.#now / 4));
  }
}
