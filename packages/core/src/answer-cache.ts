import { LRUCache } from 'lru-cache';
import type { DatabaseHealth } from './database-health.ts';
import { isOutage, LeadsError } from './errors.ts';
import { timedOut, withTimeout } from './with-timeout.ts';

/**
 * How long an answer is believed, in milliseconds. With the time a request takes it keeps the promise that what is
 * revoked or changed is in force everywhere within 10 s.
 */
const freshMs = 8_000;
/** How long an answer that was good may be given while the store is away, in milliseconds since it was asked for. */
export const staleMs = 900_000;
const maxAnswers = 10_000;
/** How long to wait for a store that is not known to be away, in milliseconds: where there is an answer, and where not. */
const patienceMs = { known: 500, unknown: 2_000 };

/** What becomes of answers while the store is away. */
export interface StaleAnswers<Found> {
  readonly store: DatabaseHealth;
  /** Whether an answer may be given for {@link staleMs}. */
  readonly isKept: (found: Found) => boolean;
}

/** An answer that was kept elsewhere. */
export interface Recalled<Found> {
  readonly found: Found;
  /** When the store gave it, in milliseconds since the epoch. */
  readonly asOf: number;
}

/** How often an answer was there or under way already, how often the store was asked, and how often it was away. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
  /** Answers given although the store could not be asked. */
  readonly stale: number;
}

interface Answer<Found> {
  readonly found: Found;
  /** By `performance.now()`. */
  readonly freshUntil: number;
}

/**
 * Answers of a store, each believed for {@link freshMs}; that there is none is an answer too.
 *
 * While the store is away, and only then, those that are kept are given for longer: at once, while one request at a
 * time finds out whether the store is back.
 */
export class AnswerCache<Found> {
  #hits = 0;
  #misses = 0;
  #staleHits = 0;
  readonly #stale: StaleAnswers<Found> | undefined;
  readonly #underWay = new Map<string, Promise<Found>>();
  readonly #answers = new LRUCache<string, Answer<Found>>({
    max: maxAnswers,
    ttl: freshMs,
    // What will not be given any more is not kept in memory either: keys may be secrets.
    ttlAutopurge: true,
  });

  /** @param stale without it nothing is given past its time. */
  constructor(stale?: StaleAnswers<Found>) {
    this.#stale = stale;
  }

  /** The answer that is known and believed; nearly always there is one. */
  fresh(key: string): { readonly found: Found } | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined || performance.now() >= answer.freshUntil) return undefined;
    this.#hits += 1;
    return answer;
  }

  /**
   * The answer where none is fresh. Who asks for the same at once shares a look-up.
   *
   * @param find asks the store. What fails is not kept.
   * @param recall tells what was kept elsewhere, for when the store is away and nothing is known here.
   * @throws LeadsError `unavailable` where the store is away and nobody knows.
   */
  ask(
    key: string,
    find: () => Promise<Found>,
    recall?: () => Promise<Recalled<Found> | undefined>,
  ): Found | Promise<Found> {
    if (this.#stale === undefined) return this.#find(key, find);
    const { store } = this.#stale;
    const answer = this.#answers.get(key);
    if (answer === undefined || !store.isAway) return this.#findOrRecall(store, key, find, recall, answer);
    if (store.isDue) void this.#find(key, find).catch(() => undefined);
    this.#staleHits += 1;
    return answer.found;
  }

  /** As {@link fresh}, else as {@link ask}. */
  get(
    key: string,
    find: () => Promise<Found>,
    recall?: () => Promise<Recalled<Found> | undefined>,
  ): Found | Promise<Found> {
    const answer = this.fresh(key);
    return answer === undefined ? this.ask(key, find, recall) : answer.found;
  }

  /** Forgets answers, and keeps none that is under way: it may be older than what makes them wrong. */
  forget(isWrong: (found: Found, key: string) => boolean): void {
    this.#underWay.clear();
    const wrong = [...this.#answers.entries()].filter(([key, { found }]) => isWrong(found, key));
    for (const [key] of wrong) this.#answers.delete(key);
  }

  /** Since it was made. */
  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses, stale: this.#staleHits };
  }

  #find(key: string, find: () => Promise<Found>): Promise<Found> {
    const standing = this.#underWay.get(key);
    if (standing !== undefined) {
      this.#hits += 1;
      return standing;
    }
    this.#misses += 1;
    // Believed from when it was asked for: a slow answer may be old when it comes.
    const askedAt = performance.now();
    const finding: Promise<Found> = (this.#stale === undefined ? find() : this.#stale.store.ask(find))
      .then((found) => {
        if (this.#underWay.get(key) === finding) this.#keep(key, found, askedAt);
        return found;
      })
      .finally(() => {
        if (this.#underWay.get(key) === finding) this.#underWay.delete(key);
      });
    this.#underWay.set(key, finding);
    return finding;
  }

  async #findOrRecall(
    store: DatabaseHealth,
    key: string,
    find: () => Promise<Found>,
    recall: (() => Promise<Recalled<Found> | undefined>) | undefined,
    answer: Answer<Found> | undefined,
  ): Promise<Found> {
    // Where it is away and somebody waits for it already, nobody else does.
    if (!(store.isAway && store.isTried)) {
      try {
        const isKnown = answer !== undefined || store.isAway;
        const found = await withTimeout(
          isKnown ? patienceMs.known : patienceMs.unknown,
          this.#find(key, find),
        );
        if (found !== timedOut) return found;
        store.noteAway();
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
    }
    const recalled = answer === undefined ? await recall?.() : undefined;
    if (recalled !== undefined) this.#keepRecalled(key, recalled);
    const { found } = answer ?? recalled ?? neverFound();
    this.#staleHits += 1;
    return found;
  }

  #keep(key: string, found: Found, askedAt: number): void {
    const age = performance.now() - askedAt;
    const keptMs = this.#stale?.isKept(found) === true ? staleMs : freshMs;
    const ttl = Math.max(1, keptMs - Math.ceil(age));
    this.#answers.set(key, { found, freshUntil: askedAt + freshMs }, { ttl });
  }

  #keepRecalled(key: string, { found, asOf }: Recalled<Found>): void {
    const ttl = Math.ceil(asOf + staleMs - Date.now());
    if (ttl > 0) this.#answers.set(key, { found, freshUntil: 0 }, { ttl });
  }
}

function neverFound(): never {
  throw new LeadsError('unavailable');
}
