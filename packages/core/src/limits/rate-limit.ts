/** The window of every quota: 1 minute. */
export const windowMs = 60_000;

/** The quota of a key after one of its requests. */
interface Quota {
  readonly isExceeded: boolean;
  /** The number of further requests that the key may send immediately. */
  readonly remaining: number;
  /** Milliseconds until the whole quota is available again; if nothing remains, until 1 request is. */
  readonly resetMs: number;
}

/**
 * A rate limit for each key (GCRA, the generic cell rate algorithm). A key may send its quota of a minute at once. The
 * quota refills evenly, so a key that exceeds it is still served at its rate. The state is in this process: one number
 * for each key that was used within the last 2 minutes.
 *
 * Times are integers, so that no request is lost to rounding. Their unit is a millisecond divided by the quota, and one
 * request uses {@link windowMs} of these units.
 */
export class RateLimit {
  readonly perMinute: number;
  readonly #now: () => number;
  /** The time when the whole quota of each key is available again: 1 minute after the last use at most. */
  #full = new Map<string, number>();
  #fullBefore = new Map<string, number>();
  #since = Number.NEGATIVE_INFINITY;

  /** @param nowMs a clock in milliseconds, for tests. */
  constructor(perMinute: number, nowMs: () => number = () => performance.now()) {
    this.perMinute = perMinute;
    this.#now = () => Math.floor(nowMs()) * perMinute;
  }

  /** Counts a request and returns the quota. A request that exceeds the quota is not counted. */
  take(key: string): Quota {
    const now = this.#now();
    const window = windowMs * this.perMinute;
    if (now - this.#since >= window) {
      this.#fullBefore = this.#full;
      this.#full = new Map();
      this.#since = now;
    }
    const full = this.#fullAt(key, now);
    const isExceeded = full + windowMs - now > window;
    const used = full - now + (isExceeded ? 0 : windowMs);
    if (!isExceeded) this.#full.set(key, now + used);
    const remaining = Math.floor((window - used) / windowMs);
    const reset = remaining > 0 ? used : used + windowMs - window;
    return { isExceeded, remaining, resetMs: reset / this.perMinute };
  }

  /** Whether {@link take} would return an exceeded quota. Counts nothing. */
  isExceeded(key: string): boolean {
    return this.exceededForMs(key) > 0;
  }

  /** Returns the milliseconds until 1 request is available; 0 if one is available now. Counts nothing. */
  exceededForMs(key: string): number {
    const now = this.#now();
    const available = this.#fullAt(key, now) + windowMs - windowMs * this.perMinute;
    return Math.max(0, available - now) / this.perMinute;
  }

  #fullAt(key: string, now: number): number {
    return Math.max(now, this.#full.get(key) ?? this.#fullBefore.get(key) ?? 0);
  }
}

/** @param perMinute requests per minute; 0 means no limit. */
export function createRateLimit(perMinute: number): RateLimit | undefined {
  return perMinute === 0 ? undefined : new RateLimit(perMinute);
}
