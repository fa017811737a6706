import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGate } from '../test/gate.ts';
import { AnswerCache, type SnapshotAnswer } from './answer-cache.ts';
import { DatabaseHealth } from './database-health.ts';
import { LeadsError } from './errors.ts';

const minute = 60_000;

/** A database that can be unavailable, or not respond. */
class Store {
  queries = 0;
  answer: string | undefined = 'good';
  failure: Error | undefined;
  gate: Promise<void> | undefined;

  readonly find = (): Promise<string | undefined> =>
    health.query(async () => {
      this.queries += 1;
      const { gate, failure, answer } = this;
      await gate;
      if (failure !== undefined) throw failure;
      return answer;
    });
}

const unavailable = () => new LeadsError('unavailable');

let store: Store;
let health: DatabaseHealth;
let cache: AnswerCache<string | undefined>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The cache keeps a reference to `performance` from its import, so only the method can be replaced.
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  store = new Store();
  health = new DatabaseHealth({ timeoutMs: 2_000 });
  cache = new AnswerCache({ database: health, isKept: (found) => found !== undefined });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const get = (key = 'key', findInSnapshot?: () => Promise<SnapshotAnswer<string | undefined> | undefined>) =>
  (async () => cache.get(key, store.find, findInSnapshot))();

/** Lets the database hang after the cached answer has expired, until the stale answer of `a` is served. */
async function hangAndServeStale() {
  const gate = createGate();
  store.gate = gate.opened;
  vi.advanceTimersByTime(9_000);
  const first = get('a');
  await turn();
  vi.advanceTimersByTime(500);
  expect(await first).toBe('good');
  return gate;
}

describe('while the database is unavailable', () => {
  test('a kept answer is served for 15 minutes', async () => {
    expect(await get()).toBe('good');
    store.failure = unavailable();
    vi.advanceTimersByTime(9_000);
    expect(await get()).toBe('good');
    vi.advanceTimersByTime(15 * minute - 9_000 - 1);
    expect(await get()).toBe('good');
    vi.advanceTimersByTime(2);
    await expect(get()).rejects.toMatchObject({ code: 'unavailable' });
    expect(cache.use.stale).toBe(2);
  });

  test('a query without a kept answer fails with the error of the database, so that the log has its cause', async () => {
    store.failure = unavailable();
    await expect(get()).rejects.toBe(store.failure);
  });

  test('a stale answer does not become fresh by being served', async () => {
    await get();
    store.failure = unavailable();
    vi.advanceTimersByTime(9_000);
    expect(await get()).toBe('good');
    store.failure = undefined;
    store.answer = 'other';
    vi.advanceTimersByTime(1_000);
    // The stale answer is served while a query detects that the database is available.
    expect(await get()).toBe('good');
    await turn();
    expect(await get()).toBe('other');
  });

  test('a cached absence is not served', async () => {
    store.answer = undefined;
    expect(await get()).toBeUndefined();
    store.failure = unavailable();
    expect(await get()).toBeUndefined();
    vi.advanceTimersByTime(8_001);
    await expect(get()).rejects.toMatchObject({ code: 'unavailable' });
    store.failure = undefined;
    expect(await get()).toBeUndefined();
  });

  test('an error other than an outage is thrown, and no stale answer is served', async () => {
    await get();
    store.failure = new Error('refused');
    vi.advanceTimersByTime(9_000);
    await expect(get()).rejects.toThrow('refused');
  });

  test('the database is queried once a second, and no caller waits for it', async () => {
    for (const key of ['a', 'b', 'c']) await get(key);
    store.failure = unavailable();
    vi.advanceTimersByTime(9_000);
    await get('a');
    store.queries = 0;
    for (let ms = 0; ms < 5_000; ms += 100) {
      vi.advanceTimersByTime(100);
      for (const key of ['a', 'b', 'c']) expect(cache.get(key, store.find)).toBe('good');
      await turn();
    }
    expect(store.queries).toBe(5);
  });

  test('one caller waits half a second for a database that does not respond', async () => {
    for (const key of ['a', 'b']) await get(key);
    const gate = await hangAndServeStale();
    for (let ms = 0; ms < 3_000; ms += 100) {
      vi.advanceTimersByTime(100);
      for (const key of ['a', 'b']) expect(cache.get(key, store.find)).toBe('good');
    }
    // One query hangs. Others follow, one a second, because only its connection may be dead.
    expect(store.queries).toBeGreaterThan(3);
    expect(store.queries).toBeLessThan(3 + 3);
    // Any response marks the database as available.
    gate.open();
    await turn();
    expect(health.isUnavailable).toBe(false);
  });

  test('a slow database answers callers that have no stale answer', async () => {
    await get('a');
    const gate = await hangAndServeStale();
    const others = [get('b'), get('c')];
    await turn();
    vi.advanceTimersByTime(1_900);
    gate.open();
    expect(await Promise.all(others)).toEqual(['good', 'good']);
  });

  test('without an answer, the first caller waits two seconds, and those after it fail at once', async () => {
    const gate = createGate();
    store.gate = gate.opened;
    const [first] = await Promise.all([
      Promise.allSettled([get('a')]),
      turn().then(() => vi.advanceTimersByTime(2_000)),
    ]);
    expect(first).toMatchObject([{ status: 'rejected', reason: { code: 'unavailable' } }]);
    const [second, third] = await Promise.all([
      Promise.allSettled([get('b')]),
      Promise.allSettled([get('c')]),
      turn().then(() => vi.advanceTimersByTime(500)),
    ]);
    for (const outcome of [second, third]) {
      expect(outcome).toMatchObject([{ status: 'rejected', reason: { code: 'unavailable' } }]);
    }
    // The third did not query the database.
    expect(store.queries).toBe(2);
    gate.open();
    await turn();
    expect(await get('c')).toBe('good');
  });

  test('an answer of the snapshot is served until it is 15 minutes old', async () => {
    store.failure = unavailable();
    const asOf = Date.now() - 10 * minute;
    let snapshotReads = 0;
    const findInSnapshot = async () => {
      snapshotReads += 1;
      return { found: 'kept', asOf };
    };
    expect(await get('key', findInSnapshot)).toBe('kept');
    vi.advanceTimersByTime(5 * minute - 1);
    expect(await get('key', findInSnapshot)).toBe('kept');
    expect(snapshotReads).toBe(1);
    vi.advanceTimersByTime(2);
    await expect(get()).rejects.toMatchObject({ code: 'unavailable' });
    store.failure = undefined;
    expect(await get('key', findInSnapshot)).toBe('good');
    expect(snapshotReads).toBe(1);
  });

  test('an answer of the snapshot is served until the database is available', async () => {
    store.failure = unavailable();
    expect(await get('key', async () => ({ found: 'kept', asOf: Date.now() }))).toBe('kept');
    store.failure = undefined;
    vi.advanceTimersByTime(1_000);
    expect(await get()).toBe('kept');
    await turn();
    expect(await get()).toBe('good');
  });

  test('without stale answers, an expired answer is not served', async () => {
    const strict = new AnswerCache<string | undefined>();
    expect(await strict.get('key', store.find)).toBe('good');
    store.failure = unavailable();
    vi.advanceTimersByTime(8_001);
    await expect(strict.get('key', store.find)).rejects.toBe(store.failure);
  });
});

describe('an invalidated answer', () => {
  test('is queried again, and not served while the database is unavailable', async () => {
    for (const key of ['a', 'b']) await get(key);
    cache.invalidate((_found, key) => key === 'a');
    store.answer = 'new';
    expect(await Promise.all([get('a'), get('b')])).toEqual(['new', 'good']);
    cache.invalidate((found) => found === 'new');
    store.failure = unavailable();
    await expect(get('a')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await get('b')).toBe('good');
  });

  test('is not restored by a query that was in progress', async () => {
    const gate = createGate();
    store.gate = gate.opened;
    const early = get();
    await turn();
    cache.invalidate(() => true);
    store.gate = undefined;
    store.answer = undefined;
    // A later caller does not share that query.
    expect(await get()).toBeUndefined();
    gate.open();
    expect(await early).toBe('good');
    expect(await get()).toBeUndefined();
  });
});

describe('tenants share the cache', () => {
  const names = (tenant: string, count: number) => Array.from({ length: count }, (_, n) => `${tenant}/${n}`);
  const kept = (keys: readonly string[]) => keys.filter((key) => cache.getFresh(key) !== undefined);
  const fill = async (keys: readonly string[]) => {
    for (const key of keys) await get(key);
  };

  beforeEach(() => {
    const isKept = (found: string | undefined) => found !== undefined;
    cache = new AnswerCache({ database: health, isKept }, (found, key) =>
      found === undefined ? 'absent' : key.slice(0, 1),
    );
  });

  test('answers of one fill half of it, replace its oldest answers, and remove none of others', async () => {
    const [few, many] = [names('a', 100), names('b', 20_000)];
    await fill(few);
    await fill(many);
    expect(kept(few)).toEqual(few);
    expect(kept(many)).toEqual(many.slice(-4_950));
    const third = names('c', 10_000);
    await fill(third);
    expect(kept(few)).toEqual(few);
    expect(kept(many)).toEqual(many.slice(-4_950));
    expect(kept(third)).toEqual(third.slice(-2_475));
  });

  test('answers that change their tenant count for the new one', async () => {
    const revoked = names('a', 4_000);
    await fill(revoked);
    vi.advanceTimersByTime(9_000);
    store.answer = undefined;
    await fill(revoked);
    store.answer = 'good';
    const keys = names('a other', 10_000);
    await fill(keys);
    expect(kept(revoked)).toEqual(revoked);
    expect(kept(keys)).toEqual(keys.slice(-3_000));
  });

  test('an answer that is queried again is not the oldest', async () => {
    const keys = names('a', 5_000);
    await fill(keys);
    vi.advanceTimersByTime(9_000);
    await fill(['a/0', 'a/new']);
    store.failure = unavailable();
    expect([await get('a/0'), await get('a/2'), await get('a/new')]).toEqual(['good', 'good', 'good']);
    vi.advanceTimersByTime(9_000);
    await expect(get('a/1')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('expired and invalidated answers of a tenant do not count', async () => {
    store.answer = undefined;
    await fill(names('a expired', 200));
    vi.advanceTimersByTime(8_001);
    await fill(names('a invalidated', 200));
    cache.invalidate(() => true);
    const keys = names('a', 5_100);
    await fill(keys);
    expect(kept(keys)).toEqual(keys.slice(100));
  });
});
