import { LeadsError } from '@leads/core/errors';
import type { FastifyReply } from 'fastify';

const windowMs = 60_000;

/** What is left to a key, after a request of it. */
interface Quota {
  readonly isExceeded: boolean;
  /** How many more requests may be sent at once. */
  readonly remaining: number;
  /** In so many milliseconds all of the quota is there again; where nothing is left, some of it. */
  readonly resetMs: number;
}

/**
 * A rate that holds for each key by itself (GCRA, the generic cell rate algorithm): a quota of a minute that may be
 * sent at once, and that comes back evenly, so that a key which sends too much gets through at its rate. It is kept in
 * this process, as one number for each key that was used within the last two minutes.
 *
 * Times are whole numbers, so that no request is lost to fractions: milliseconds times the quota, of which a request
 * uses {@link windowMs}.
 */
export class RateLimit {
  readonly perMinute: number;
  readonly #now: () => number;
  /** By key, when all of its quota is there again. A minute after its last use that is past, and it can go. */
  #full = new Map<string, number>();
  #fullBefore = new Map<string, number>();
  #since = Number.NEGATIVE_INFINITY;

  /** @param nowMs a clock in milliseconds, for tests. */
  constructor(perMinute: number, nowMs: () => number = () => performance.now()) {
    this.perMinute = perMinute;
    this.#now = () => Math.floor(nowMs()) * perMinute;
  }

  /** Counts a request, unless it is one too many. */
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

/** The limits of both kinds of API keys; one that is left out is none. */
export interface RateLimits {
  readonly secretKeys?: RateLimit | undefined;
  readonly browserKeys?: RateLimit | undefined;
}

/** @param perMinute requests of a minute; 0 is no limit. */
export function createRateLimit(perMinute: number): RateLimit | undefined {
  return perMinute === 0 ? undefined : new RateLimit(perMinute);
}

/**
 * Counts a request and tells in the answer what is left (draft-ietf-httpapi-ratelimit-headers).
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

/** How the OpenAPI document names what {@link limitRate} tells, in the `headers` of a response. */
export const rateLimitHeaders = {
  RateLimit: {
    type: 'string',
    description:
      'With a key that has a limit: how many requests are left (`r`), and when it is more, in seconds (`t`).',
  },
  'RateLimit-Policy': {
    type: 'string',
    description:
      'With a key that has a limit: how many requests (`q`) it may send in a time, in seconds (`w`).',
  },
} as const;
