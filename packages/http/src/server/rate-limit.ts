import { LeadsError } from '@leads/core/errors';
import type { FastifyReply } from 'fastify';

const windowMs = 60_000;

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
    const full = Math.max(now, this.#full.get(key) ?? this.#fullBefore.get(key) ?? 0);
    const isExceeded = full + windowMs - now > window;
    const used = full - now + (isExceeded ? 0 : windowMs);
    if (!isExceeded) this.#full.set(key, now + used);
    const remaining = Math.floor((window - used) / windowMs);
    const reset = remaining > 0 ? used : used + windowMs - window;
    return { isExceeded, remaining, resetMs: reset / this.perMinute };
  }
}

/** The limits of both kinds of API keys. An absent limit means no limit. */
export interface RateLimits {
  readonly secretKeys?: RateLimit | undefined;
  readonly browserKeys?: RateLimit | undefined;
}

/** @param perMinute requests per minute; 0 means no limit. */
export function createRateLimit(perMinute: number): RateLimit | undefined {
  return perMinute === 0 ? undefined : new RateLimit(perMinute);
}

/**
 * Counts a request and sets the headers of the remaining quota (draft-ietf-httpapi-ratelimit-headers).
 *
 * @throws LeadsError `too_many_requests`
 */
export function limitRate(reply: FastifyReply, limit: RateLimit, key: string): void {
  const { isExceeded, remaining, resetMs } = limit.take(key);
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  reply.headers({
    'ratelimit-policy': `"default";q=${limit.perMinute};w=${windowMs / 1000}`,
    ratelimit: `"default";r=${remaining};t=${seconds}`,
  });
  if (!isExceeded) return;
  throw new LeadsError('too_many_requests', {
    message: 'Too many requests with this API key: try again later',
    retryAfterSeconds: seconds,
  });
}

/** The headers that {@link limitRate} sets, for the `headers` of a response in the OpenAPI document. */
export const rateLimitHeaders = {
  RateLimit: {
    type: 'string',
    description:
      'The remaining requests (`r`), and the seconds until the quota resets (`t`). Sent if the API key has a rate limit.',
  },
  'RateLimit-Policy': {
    type: 'string',
    description:
      'The quota in requests (`q`) and its window in seconds (`w`). Sent if the API key has a rate limit.',
  },
} as const;
