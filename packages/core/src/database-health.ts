import { isOutage } from './errors.ts';

/** The pause before an unavailable database is queried again, in milliseconds. */
const retryMs = 1_000;

/** The availability of a database, by the outcome of its last query. Caches of one database share an instance. */
export class DatabaseHealth {
  /** How long a query may take until the database counts as unavailable, in milliseconds. */
  readonly timeoutMs: number;
  #isUnavailable = false;
  #isSlow = false;
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

  /** Whether the last query took so long that a stale answer was served in its place. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Whether a query is in progress. An old one does not count, because its connection may be dead. */
  get isQueried(): boolean {
    return this.#running > 0 && performance.now() - this.#startedAt < retryMs;
  }

  /** Whether an unavailable or slow database may be queried again. */
  get isRetryDue(): boolean {
    return !this.isQueried && performance.now() - this.#failedAt >= retryMs;
  }

  /** Runs a query and records its outcome. */
  async query<Found>(find: () => Promise<Found>): Promise<Found> {
    this.#running += 1;
    this.#startedAt = performance.now();
    try {
      const found = await find();
      this.#markAvailable();
      return found;
    } catch (error) {
      if (isOutage(error)) this.markUnavailable();
      else this.#markAvailable();
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

  /** Records that a stale answer was served in place of a query. */
  markSlow(): void {
    this.#isSlow = true;
    this.#failedAt = performance.now();
  }

  #markAvailable(): void {
    this.#isUnavailable = false;
    this.#isSlow = false;
  }
}

/** Runs a query, and records its outcome if the health of its database is watched. */
export function queryDatabase<Found>(
  health: DatabaseHealth | undefined,
  find: () => Promise<Found>,
): Promise<Found> {
  return health === undefined ? find() : health.query(find);
}
