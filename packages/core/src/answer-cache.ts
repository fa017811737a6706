import { LRUCache } from 'lru-cache';
import type { DatabaseHealth } from './database-health.ts';
import { isOutage, LeadsError } from './errors.ts';
import { timedOut, withTimeout } from './with-timeout.ts';

/**
 * How long an answer is fresh, in milliseconds. Together with the duration of a request, it ensures that a revocation or a
 * change takes effect on all instances within 10 s.
 */
const freshMs = 8_000;
/** How long an answer may be served while the database is unavailable, in milliseconds since its query. */
export const staleMs = 900_000;
const maxAnswers = 10_000;
/** The timeout of a query with a stale answer to serve in its place, in milliseconds. */
const staleTimeoutMs = 500;

/** The conditions for serving stale answers while the database is unavailable. */
export interface StaleAnswers<Found> {
  readonly database: DatabaseHealth;
  /** Whether an answer may be served for {@link staleMs}. */
  readonly isKept: (found: Found) => boolean;
}

/** An answer from the snapshot that instances share. */
export interface SnapshotAnswer<Found> {
  readonly found: Found;
  /** When the database gave it, in milliseconds since the epoch. */
  readonly asOf: number;
}

/** Counts of lookups: served from memory, sent to the database, and served stale. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
  readonly stale: number;
}

interface Answer<Found> {
  readonly found: Found;
  /** By `performance.now()`. */
  readonly freshUntil: number;
}

/**
 * Caches answers of the database for {@link freshMs}, also if nothing was found.
 *
 * While the database is unavailable or slow, it serves stale answers at once. One request a second then queries the
 * database, and so does each request without an answer until the database is unavailable.
 */
export class AnswerCache<Found> {
  #hits = 0;
  #misses = 0;
  #staleHits = 0;
  readonly #stale: StaleAnswers<Found> | undefined;
  readonly #tenantOf: ((found: Found, key: string) => string) | undefined;
  /** The keys of the answers by tenant, the oldest answer first. */
  readonly #keysByTenant = new Map<string, Set<string>>();
  readonly #queries = new Map<string, Promise<Found>>();
  readonly #answers = new LRUCache<string, Answer<Found>>({
    max: maxAnswers,
    ttl: freshMs,
    // Expired answers leave the memory, because their keys may be secrets.
    ttlAutopurge: true,
    dispose: ({ found }, key) => this.#removeFromTenant(found, key),
  });

  /**
   * @param stale without it, stale answers are never served.
   * @param tenantOf returns the tenant of an answer. With it, a tenant gets a further answer while it has fewer answers than
   *   there is room for (dynamic thresholds, as in FairBacklog). After that, a new answer replaces its oldest one. So the
   *   answers of one tenant fill at most half of the cache, and remove no answers of others.
   */
  constructor(stale?: StaleAnswers<Found>, tenantOf?: (found: Found, key: string) => string) {
    this.#stale = stale;
    this.#tenantOf = tenantOf;
  }

  /** Returns the answer if it is fresh. */
  getFresh(key: string): { readonly found: Found } | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined || performance.now() >= answer.freshUntil) return undefined;
    this.#hits += 1;
    return answer;
  }

  /**
   * Returns an answer if there is no fresh one. Concurrent callers share one query.
   *
   * @param find queries the database, by `queryDatabase` if stale answers may be served. Its errors are not cached.
   * @param findInSnapshot is called if the database is unavailable and there is no stale answer.
   * @throws LeadsError `unavailable` if the database is unavailable and there is no answer.
   */
  query(
    key: string,
    find: () => Promise<Found>,
    findInSnapshot?: () => Promise<SnapshotAnswer<Found> | undefined>,
  ): Found | Promise<Found> {
    if (this.#stale === undefined) return this.#find(key, find);
    const { database } = this.#stale;
    const answer = this.#answers.get(key);
    if (answer === undefined || !(database.isUnavailable || database.isSlow)) {
      return this.#findOrServeStale(database, key, find, findInSnapshot, answer);
    }
    if (database.isRetryDue) void this.#find(key, find).catch(() => undefined);
    this.#staleHits += 1;
    return answer.found;
  }

  /** Returns the fresh answer, or else calls {@link query}. */
  get(
    key: string,
    find: () => Promise<Found>,
    findInSnapshot?: () => Promise<SnapshotAnswer<Found> | undefined>,
  ): Found | Promise<Found> {
    const answer = this.getFresh(key);
    return answer === undefined ? this.query(key, find, findInSnapshot) : answer.found;
  }

  /** Removes answers. The answers of queries in progress are not cached either, because they may be outdated. */
  invalidate(isOutdated: (found: Found, key: string) => boolean): void {
    this.#queries.clear();
    const outdated = [...this.#answers.entries()].filter(([key, { found }]) => isOutdated(found, key));
    for (const [key] of outdated) this.#answers.delete(key);
  }

  /** The counts since the cache was created. */
  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses, stale: this.#staleHits };
  }

  #find(key: string, find: () => Promise<Found>): Promise<Found> {
    const running = this.#queries.get(key);
    if (running !== undefined) {
      this.#hits += 1;
      return running;
    }
    this.#misses += 1;
    // An answer is as old as its query, which may be slow.
    const startedAt = performance.now();
    const query: Promise<Found> = find()
      .then((found) => {
        if (this.#queries.get(key) === query) this.#keep(key, found, startedAt);
        return found;
      })
      .finally(() => {
        if (this.#queries.get(key) === query) this.#queries.delete(key);
      });
    this.#queries.set(key, query);
    return query;
  }

  async #findOrServeStale(
    database: DatabaseHealth,
    key: string,
    find: () => Promise<Found>,
    findInSnapshot: (() => Promise<SnapshotAnswer<Found> | undefined>) | undefined,
    answer: Answer<Found> | undefined,
  ): Promise<Found> {
    let outage: LeadsError | undefined;
    // While the database is unavailable, one query at a time waits for it.
    if (!(database.isUnavailable && database.isQueried)) {
      try {
        const mayServeStale = answer !== undefined || database.isUnavailable;
        const found = await withTimeout(
          mayServeStale ? staleTimeoutMs : database.timeoutMs,
          this.#find(key, find),
        );
        if (found !== timedOut) return found;
        // A slow database may still answer callers without a stale answer in time.
        if (answer === undefined) database.markUnavailable();
        else database.markSlow();
      } catch (error) {
        if (!isOutage(error)) throw error;
        outage = error;
      }
    }
    const fromSnapshot = answer === undefined ? await findInSnapshot?.() : undefined;
    if (fromSnapshot !== undefined) this.#keepFromSnapshot(key, fromSnapshot);
    const served = answer ?? fromSnapshot;
    if (served === undefined) throw outage ?? new LeadsError('unavailable');
    this.#staleHits += 1;
    return served.found;
  }

  #keep(key: string, found: Found, startedAt: number): void {
    const age = performance.now() - startedAt;
    const keptMs = this.#stale?.isKept(found) === true ? staleMs : freshMs;
    const ttl = Math.max(1, keptMs - Math.ceil(age));
    this.#set(key, { found, freshUntil: startedAt + freshMs }, ttl);
  }

  #keepFromSnapshot(key: string, { found, asOf }: SnapshotAnswer<Found>): void {
    const ttl = Math.ceil(asOf + staleMs - Date.now());
    if (ttl > 0) this.#set(key, { found, freshUntil: 0 }, ttl);
  }

  #set(key: string, answer: Answer<Found>, ttl: number): void {
    if (this.#tenantOf === undefined) {
      this.#answers.set(key, answer, { ttl });
      return;
    }
    const tenant = this.#tenantOf(answer.found, key);
    const keys = this.#keysByTenant.get(tenant) ?? new Set();
    const [oldest] = keys;
    const hasShare = keys.size >= maxAnswers - this.#answers.size;
    if (oldest !== undefined && hasShare && !keys.has(key)) this.#answers.delete(oldest);
    // If it replaces an answer, this removes the key from the tenant of that answer.
    this.#answers.set(key, answer, { ttl });
    keys.add(key);
    this.#keysByTenant.set(tenant, keys);
  }

  #removeFromTenant(found: Found, key: string): void {
    const tenant = this.#tenantOf?.(found, key);
    if (tenant === undefined) return;
    const keys = this.#keysByTenant.get(tenant);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysByTenant.delete(tenant);
  }
}
