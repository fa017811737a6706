import { LRUCache } from 'lru-cache';

/**
 * How long an answer is believed, in milliseconds. With the time a request takes it keeps the promise that what is
 * revoked or changed is in force everywhere within 10 s.
 */
const freshMs = 8_000;
const mostAnswers = 10_000;

/** How often an answer was there, or under way already, and how often the store was asked. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
}

/** Answers of a store, each believed for {@link freshMs}; that there is none is an answer too. */
export class AnswerCache<Found> {
  #asked = 0;
  #misses = 0;
  readonly #answers = new LRUCache<string, { readonly found: Found }, () => Promise<Found>>({
    max: mostAnswers,
    ttl: freshMs,
    // What is not believed any more is not kept in memory either: keys may be secrets.
    ttlAutopurge: true,
    // Who waits for an answer gets it, even when a flood of others pushes it out of the cache meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { options, context: find }) => {
      this.#misses += 1;
      const askedAt = performance.now();
      const found = await find();
      // Believed from when it was asked for: a slow answer may be old when it comes.
      options.ttl = Math.max(1, freshMs - Math.ceil(performance.now() - askedAt));
      return { found };
    },
  });

  /**
   * At once where the answer is known, as it nearly always is. Who asks for the same at once shares a look-up.
   *
   * @param find asks the store. What fails is not kept.
   */
  get(key: string, find: () => Promise<Found>): Found | Promise<Found> {
    this.#asked += 1;
    const answer = this.#answers.get(key);
    return answer === undefined
      ? this.#answers.forceFetch(key, { context: find }).then(({ found }) => found)
      : answer.found;
  }

  /** Since it was made. */
  get use(): CacheUse {
    return { hits: this.#asked - this.#misses, misses: this.#misses };
  }
}
