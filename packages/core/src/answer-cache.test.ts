import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createGate } from '../test/gate.ts';
import { AnswerCache, type Recalled } from './answer-cache.ts';
import { DatabaseHealth } from './database-health.ts';
import { LeadsError } from './errors.ts';

const minute = 60_000;

/** A store that can be away, or say nothing. */
class Store {
  asked = 0;
  answer: string | undefined = 'good';
  failure: Error | undefined;
  gate: Promise<void> | undefined;

  readonly find = async (): Promise<string | undefined> => {
    this.asked += 1;
    const { gate, failure, answer } = this;
    await gate;
    if (failure !== undefined) throw failure;
    return answer;
  };
}

const away = () => new LeadsError('unavailable');

let store: Store;
let watch: DatabaseHealth;
let cache: AnswerCache<string | undefined>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The cache keeps the object that it found when it was loaded, so it is its method that is replaced.
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  store = new Store();
  watch = new DatabaseHealth();
  cache = new AnswerCache({ store: watch, isKept: (found) => found !== undefined });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const get = (key = 'key', recall?: () => Promise<Recalled<string | undefined> | undefined>) =>
  (async () => cache.get(key, store.find, recall))();

describe('while the store is away', () => {
  test('a good answer is given for 15 minutes, and no longer', async () => {
    expect(await get()).toBe('good');
    store.failure = away();
    vi.advanceTimersByTime(9_000);
    expect(await get()).toBe('good');
    vi.advanceTimersByTime(15 * minute - 9_000 - 1);
    expect(await get()).toBe('good');
    vi.advanceTimersByTime(2);
    await expect(get()).rejects.toMatchObject({ code: 'unavailable' });
    expect(cache.use.stale).toBe(2);
  });

  test('a stale answer does not become fresh by being given', async () => {
    await get();
    store.failure = away();
    vi.advanceTimersByTime(9_000);
    expect(await get()).toBe('good');
    store.failure = undefined;
    store.answer = 'other';
    vi.advanceTimersByTime(1_000);
    // Given at once, while it is found out that the store is back.
    expect(await get()).toBe('good');
    await turn();
    expect(await get()).toBe('other');
  });

  test('that there was none is not given: nobody knows', async () => {
    store.answer = undefined;
    expect(await get()).toBeUndefined();
    store.failure = away();
    expect(await get()).toBeUndefined();
    vi.advanceTimersByTime(8_001);
    await expect(get()).rejects.toMatchObject({ code: 'unavailable' });
    store.failure = undefined;
    expect(await get()).toBeUndefined();
  });

  test('another error than an outage is no reason to go on with what is old', async () => {
    await get();
    store.failure = new Error('refused');
    vi.advanceTimersByTime(9_000);
    await expect(get()).rejects.toThrow('refused');
  });

  test('it is asked once a second, by nobody who waits', async () => {
    for (const key of ['a', 'b', 'c']) await get(key);
    store.failure = away();
    vi.advanceTimersByTime(9_000);
    await get('a');
    store.asked = 0;
    for (let ms = 0; ms < 5_000; ms += 100) {
      vi.advanceTimersByTime(100);
      for (const key of ['a', 'b', 'c']) expect(cache.get(key, store.find)).toBe('good');
      await turn();
    }
    expect(store.asked).toBe(5);
  });

  test('a store that says nothing is waited for once, for half a second', async () => {
    for (const key of ['a', 'b']) await get(key);
    const gate = createGate();
    store.gate = gate.opened;
    vi.advanceTimersByTime(9_000);
    const first = get('a');
    await turn();
    vi.advanceTimersByTime(500);
    expect(await first).toBe('good');
    for (let ms = 0; ms < 3_000; ms += 100) {
      vi.advanceTimersByTime(100);
      for (const key of ['a', 'b']) expect(cache.get(key, store.find)).toBe('good');
    }
    // One of them hangs on; others are tried beside it, one a second, since it may be its connection alone.
    expect(store.asked).toBeGreaterThan(3);
    expect(store.asked).toBeLessThan(3 + 3);
    // Whichever answers is heard.
    gate.open();
    await turn();
    expect(watch.isAway).toBe(false);
  });

  test('what nobody knows waits two seconds at first, and not at all once somebody does', async () => {
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
    // The third has not even tried.
    expect(store.asked).toBe(2);
    gate.open();
    await turn();
    expect(await get('c')).toBe('good');
  });

  test('what was kept elsewhere is taken, for 15 minutes from when it was so', async () => {
    store.failure = away();
    const asOf = Date.now() - 10 * minute;
    let recalls = 0;
    const recall = async () => {
      recalls += 1;
      return { found: 'kept', asOf };
    };
    expect(await get('key', recall)).toBe('kept');
    vi.advanceTimersByTime(5 * minute - 1);
    expect(await get('key', recall)).toBe('kept');
    expect(recalls).toBe(1);
    vi.advanceTimersByTime(2);
    await expect(get()).rejects.toMatchObject({ code: 'unavailable' });
    store.failure = undefined;
    expect(await get('key', recall)).toBe('good');
    expect(recalls).toBe(1);
  });

  test('what was kept elsewhere is believed no longer than until the store is back', async () => {
    store.failure = away();
    expect(await get('key', async () => ({ found: 'kept', asOf: Date.now() }))).toBe('kept');
    store.failure = undefined;
    vi.advanceTimersByTime(1_000);
    expect(await get()).toBe('kept');
    await turn();
    expect(await get()).toBe('good');
  });

  test('without leave nothing is given past its time', async () => {
    const strict = new AnswerCache<string | undefined>();
    expect(await strict.get('key', store.find)).toBe('good');
    store.failure = away();
    vi.advanceTimersByTime(8_001);
    await expect(strict.get('key', store.find)).rejects.toBe(store.failure);
  });
});

describe('what is forgotten', () => {
  test('is asked for anew, and not given while the store is away', async () => {
    for (const key of ['a', 'b']) await get(key);
    cache.forget((_found, key) => key === 'a');
    store.answer = 'new';
    expect(await Promise.all([get('a'), get('b')])).toEqual(['new', 'good']);
    cache.forget((found) => found === 'new');
    store.failure = away();
    await expect(get('a')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await get('b')).toBe('good');
  });

  test('does not come back with an answer that was under way', async () => {
    const gate = createGate();
    store.gate = gate.opened;
    const early = get();
    await turn();
    cache.forget(() => true);
    store.gate = undefined;
    store.answer = undefined;
    // Who comes later does not share it.
    expect(await get()).toBeUndefined();
    gate.open();
    expect(await early).toBe('good');
    expect(await get()).toBeUndefined();
  });
});
