import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { LeadToInsert } from '@leads/core/lead';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DatabaseError } from '../db/database-error.ts';
import { leadFieldNames } from '../lead/lead-fields.ts';
import type { BatchBounds } from './batcher.ts';
import { LeadBatcher } from './lead-batcher.ts';

/** A lead store that holds inserts until `release`, and rejects leads named Poison. */
class Store {
  readonly batches: string[][] = [];
  readonly #pending: (() => void)[] = [];
  isHeld = false;
  failure: Error | undefined;

  async insert(leads: readonly LeadToInsert[]) {
    this.batches.push(leads.map(({ name }) => name));
    if (this.isHeld) await new Promise<void>((resolve) => this.#pending.push(resolve));
    if (this.failure !== undefined) throw this.failure;
    if (leads.some(({ name }) => name === 'Poison')) {
      throw new DatabaseError('23514', undefined);
    }
    return leads.map(({ id, name }) => {
      if (name === 'Other') return { result: 'key_reused' as const };
      return name === 'Beyond share'
        ? { result: 'unavailable' as const }
        : { result: 'repeated' as const, id };
    });
  }

  /** Completes the inserts in progress. */
  release(): void {
    for (const resolve of this.#pending.splice(0)) resolve();
  }
}

function setUp(bounds?: Partial<BatchBounds>) {
  const store = new Store();
  const observed = { batches: [] as number[], sheds: 0 };
  const batcher = new LeadBatcher(store, {
    bounds: { inFlight: 1, ...bounds },
    observer: {
      batch: (waitsMs) => observed.batches.push(waitsMs.length),
      shed: () => {
        observed.sheds += 1;
      },
    },
  });
  const take = (name: string, texts: Partial<LeadToInsert> = {}) =>
    batcher.take({ id: randomUUID(), workspaceId: 'a', name, phone: '1', ...texts } as LeadToInsert).then(
      () => 'stored',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  return { store, batcher, take, observed };
}

test('stores a single lead without waiting for others', async () => {
  const { store, take } = setUp();
  expect(await take('a')).toBe('stored');
  expect(await take('b')).toBe('stored');
  expect(store.batches).toEqual([['a'], ['b']]);
});

test('batches leads of one event-loop turn, and leads that arrive while a batch is in flight', async () => {
  const { store, take, observed } = setUp();
  store.isHeld = true;
  const first = ['a', 'b'].map((name) => take(name));
  await turn();
  const second: Promise<string>[] = [];
  for (const name of ['c', 'd', 'e']) {
    second.push(take(name));
    await turn();
  }
  expect(store.batches).toEqual([['a', 'b']]);
  store.release();
  expect(await Promise.all(first)).toEqual(['stored', 'stored']);
  await turn();
  await turn();
  expect(store.batches).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ]);
  store.release();
  expect(await Promise.all(second)).toEqual(['stored', 'stored', 'stored']);
  expect(observed).toEqual({ batches: [2, 3], sheds: 0 });
});

test('limits the leads of a batch and the batches in flight', async () => {
  const { store, take } = setUp({ rows: 3, inFlight: 2 });
  store.isHeld = true;
  const all = Array.from({ length: 10 }, (_, index) => take(String(index)));
  await turn();
  await turn();
  await turn();
  expect(store.batches.map((names) => names.length)).toEqual([3, 3]);
  while (store.batches.flat().length < 10) {
    store.release();
    await turn();
  }
  store.release();
  expect(await Promise.all(all)).toEqual(all.map(() => 'stored'));
  expect(store.batches.map((names) => names.length)).toEqual([3, 3, 3, 1]);
});

test('sends a partial batch after a delay if the batch in flight hangs, and a full batch at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { store, take } = setUp({ rows: 3, inFlight: 3, partialBatchDelayMs: 500 });
  store.isHeld = true;
  const all = [take('held')];
  await turn();
  all.push(take('a'));
  await turn();
  expect(store.batches).toEqual([['held']]);
  vi.advanceTimersByTime(499);
  await turn();
  expect(store.batches).toEqual([['held']]);
  vi.advanceTimersByTime(1);
  await turn();
  expect(store.batches).toEqual([['held'], ['a']]);
  all.push(take('b'), take('c'), take('d'), take('e'));
  await turn();
  expect(store.batches).toEqual([['held'], ['a'], ['b', 'c', 'd']]);
  store.isHeld = false;
  store.release();
  expect(await Promise.all(all)).toEqual(all.map(() => 'stored'));
  expect(store.batches.at(-1)).toEqual(['e']);
});

test('rejects only the lead whose Idempotency-Key was used with other content', async () => {
  const { take } = setUp();
  expect(await Promise.all(['a', 'Other', 'b'].map((name) => take(name)))).toEqual([
    'stored',
    'idempotency_key_reused',
    'stored',
  ]);
});

test('rejects only the lead of a workspace that has its share of the buffer', async () => {
  const { take } = setUp();
  expect(await Promise.all(['a', 'Beyond share', 'b'].map((name) => take(name)))).toEqual([
    'stored',
    'unavailable',
    'stored',
  ]);
});

test('resolves with the outcome of the lead', async () => {
  const outcomes = [{ result: 'repeated', id: 'earlier' } as const, { result: 'buffered' } as const];
  const batcher = new LeadBatcher({ insert: async () => outcomes });
  const leads = ['a', 'b'].map((id) => ({ id, name: 'Ada', phone: '1' }) as LeadToInsert);
  expect(await Promise.all(leads.map((lead) => batcher.take(lead)))).toEqual(outcomes);
});

test('a batch has leads of each waiting workspace, although one has more leads than fit', async () => {
  const { store, take } = setUp({ rows: 4 });
  store.isHeld = true;
  const all = [take('sent')];
  await turn();
  for (let n = 0; n < 8; n++) all.push(take(`a${n}`));
  all.push(take('b', { workspaceId: 'b' }));
  store.isHeld = false;
  store.release();
  await Promise.all(all);
  expect(store.batches[1]).toEqual(['a0', 'a1', 'b', 'a2']);
});

test('resolves a lead only after it is committed', async () => {
  const { store, take } = setUp();
  store.isHeld = true;
  let isSettled = false;
  const outcome = take('a').finally(() => {
    isSettled = true;
  });
  for (let n = 0; n < 10; n++) await turn();
  expect(isSettled).toBe(false);
  store.release();
  expect(await outcome).toBe('stored');
});

test('rejects only the leads of a batch that cannot be stored', async () => {
  const { take } = setUp();
  const names = ['a', 'Poison', 'b', 'c', 'd', 'Poison', 'Poison', 'e'];
  expect(await Promise.all(names.map((name) => take(name)))).toEqual(
    names.map((name) => (name === 'Poison' ? 'invalid_input' : 'stored')),
  );
});

test('rejects all leads of a batch that fails, and no lead of other batches', async () => {
  const { store, take } = setUp();
  store.failure = new Error('failed');
  expect(await Promise.all([take('a'), take('b')])).toEqual(['failed', 'failed']);
  store.failure = undefined;
  expect(await take('c')).toBe('stored');
});

test('rejects leads at once beyond the limit of waiting leads, and accepts leads again later', async () => {
  const { store, batcher, take, observed } = setUp({ waitingRows: 4 });
  store.isHeld = true;
  const sent = take('sent');
  await turn();
  const waiting = [take('a'), take('b')];
  expect(await take('c')).toBe('unavailable');
  expect(() => batcher.checkRoom('a')).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
  expect(observed.sheds).toBe(2);
  // One workspace gets half of the queue.
  waiting.push(take('of another workspace', { workspaceId: 'b' }));
  batcher.checkRoom();
  waiting.push(take('of a third workspace', { workspaceId: 'c' }));
  expect(() => batcher.checkRoom()).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
  store.isHeld = false;
  store.release();
  expect(await Promise.all([sent, ...waiting])).toEqual(Array.from({ length: 5 }, () => 'stored'));
  batcher.checkRoom('a');
  expect(await take('c')).toBe('stored');
});

test('rejects leads at once beyond the memory limit of waiting leads', async () => {
  const { store, take } = setUp({ waitingCharacters: 2_000 });
  store.isHeld = true;
  const sent = take('sent', { extra: 'x'.repeat(5_000) });
  await turn();
  const waiting = ['address', 's1', 'lpName', 'extra'].map((name) => take('a', { [name]: 'x'.repeat(300) }));
  expect(await take('b')).toBe('unavailable');
  store.isHeld = false;
  store.release();
  expect(await Promise.all([sent, ...waiting])).toEqual(Array.from({ length: 5 }, () => 'stored'));
  expect(await take('b')).toBe('stored');
});

test('a batch has few leads of long texts, and the leads of other workspaces do not wait for all of them', async () => {
  const { store, take } = setUp({ characters: 1_000 });
  store.isHeld = true;
  const sent = take('sent');
  await turn();
  const names = ['a1', 'a2', 'a3', 'a4'];
  const long = names.map((name) => take(name, { phone: '1'.repeat(600) }));
  const other = take('b', { workspaceId: 'b' });
  store.isHeld = false;
  store.release();
  expect(await Promise.all([sent, ...long, other])).toEqual(Array.from({ length: 6 }, () => 'stored'));
  expect(store.batches).toEqual([['sent'], ['a1', 'b', 'a2'], ['a3', 'a4']]);
});

test('counts every text of a waiting lead towards the memory limit', async () => {
  for (const name of ['name', 'phone', 's1', 'lpName', 'extra', ...leadFieldNames]) {
    const { batcher, take } = setUp({ waitingCharacters: 1_000 });
    const waiting = take('a', { [name]: 'x'.repeat(600) });
    expect(() => batcher.checkRoom('a'), name).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
    expect(await waiting).toBe('stored');
  }
});

test('rejects a lead that waits too long, and never stores it', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  try {
    const { store, take, observed } = setUp({ waitMs: 2_000 });
    store.isHeld = true;
    const sent = take('sent');
    await turn();
    const early = take('early');
    vi.advanceTimersByTime(1_500);
    const late = take('late');
    vi.advanceTimersByTime(750);
    expect(await early).toBe('unavailable');
    expect(observed.sheds).toBe(1);
    store.isHeld = false;
    store.release();
    expect(await Promise.all([sent, late])).toEqual(['stored', 'stored']);
    expect(store.batches).toEqual([['sent'], ['late']]);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(250);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('stores the leads that waited while the process stood still', async () => {
  const { store, take } = setUp({ waitMs: 1_000 });
  const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_300);
  const first = take('first');
  standStill();
  expect(await first).toBe('stored');

  store.isHeld = true;
  const sent = take('sent');
  await turn();
  const waiting = take('waiting');
  standStill();
  store.isHeld = false;
  store.release();
  expect(await Promise.all([sent, waiting])).toEqual(['stored', 'stored']);
});

test('disposal waits until all accepted leads are stored', async () => {
  const { store, batcher, take } = setUp({ rows: 1 });
  store.isHeld = true;
  const all = [take('a'), take('b')];
  let isDisposed = false;
  const disposing = batcher[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await turn();
  store.release();
  await turn();
  await turn();
  expect(isDisposed).toBe(false);
  store.release();
  await disposing;
  expect(await Promise.all(all)).toEqual(['stored', 'stored']);
  await batcher[Symbol.asyncDispose]();
});
