import { isOutage } from './errors.ts';

/** The pause before an unavailable database is queried again, in milliseconds. */
const retryMs = 1_000;

/** The availability of a database, by the outcome of its last query. Caches of one database share an instance. */
export class DatabaseHealth {
  /** How long a query may take until the database counts as unavailable, in milliseconds. */
  readonly timeoutMs: number;
  #isUnavailable = false;
  #running = 0;
  #startedAt = 0;
  #failedAt = 0;

  constructor({ timeoutMs }: { readonly timeoutMs: number }) {
    this.timeoutMs = timeoutMs;
  }

  /** Whether the last query failed to reach the database. */
  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  /** Whether a query is in progress. An old one does not count, because its connection may be dead. */
  get isQueried(): boolean {
    return this.#running > 0 && performance.now() - this.#startedAt < retryMs;
  }

  /** Whether an unavailable database may be queried again. */
  get isRetryDue(): boolean {
    return !this.isQueried && performance.now() - this.#failedAt >= retryMs;
  }

  /** Runs a query and records its outcome. */
  async query<Found>(find: () => Promise<Found>): Promise<Found> {
    this.#running += 1;
    this.#startedAt = performance.now();
    try {
      const found = await find();
      this.#isUnavailable = false;
      return found;
    } catch (error) {
      if (isOutage(error)) this.markUnavailable();
      else this.#isUnavailable = false;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  /** Records that the database does not respond, or not in time. */
  markUnavailable(): void {
    this.#isUnavailable = true;
    this.#failedAt = performance.now();
  }
}
