import { LeadsError, StoreError } from '@leads/core/errors';
import type { LeadToInsert } from '@leads/core/lead';
import type { BufferedLeads } from '@leads/core/nats';
import { expect, test, vi } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';
import { LeadDrainer } from './lead-drainer.ts';

const soon = 20_000;

/** Starts a drainer on a buffer of messages, each given by its lead names. Unacknowledged messages stay in the buffer. */
function setUp(
  messages: readonly (readonly string[])[],
  refuse: (name: string) => Error | undefined,
  stored: Promise<void> = Promise.resolve(),
  bytes = 1_000,
) {
  const waiting = [...messages];
  const seen = {
    acknowledged: [] as string[],
    inserts: [] as number[],
    quarantined: 0,
    failures: 0,
    unread: 0,
    fetches: 0,
    yields: 0,
  };
  const state = { isBusy: false, isBroken: false };
  const breaker = new CircuitBreaker(() => undefined);
  const fetched = (names: readonly string[]): BufferedLeads => ({
    bytes,
    leads() {
      if (names.includes('unreadable')) throw new Error('unreadable');
      return names.map((name) => ({ id: name, name, createdAt: new Date() }) as LeadToInsert);
    },
    acknowledge: () => void seen.acknowledged.push(...names),
    nak: () => void waiting.push(names),
  });
  const drainer = new LeadDrainer({
    buffer: {
      isConnected: true,
      async fetch(limit) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        seen.fetches += 1;
        if (state.isBroken) throw new LeadsError('unavailable');
        return waiting.splice(0, limit).map(fetched);
      },
    },
    stores: {
      leads: {
        async insert(leads) {
          seen.inserts.push(leads.length);
          for (const { name } of leads) {
            const error = refuse(name);
            if (error !== undefined) throw error;
          }
          await stored;
          return leads.map(({ id }) => ({ result: 'repeated', id }));
        },
      },
      quarantine: {
        async add(leads) {
          seen.quarantined += leads.length;
        },
      },
    },
    breaker,
    isBusy: () => {
      seen.yields += 1;
      return state.isBusy;
    },
    observer: {
      drained: () => undefined,
      quarantined: () => undefined,
      failed: () => {
        seen.failures += 1;
      },
      unread: () => {
        seen.unread += 1;
      },
    },
  });
  return { drainer, breaker, seen, state, waiting };
}

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
/** An error of the store's port: class 23 rejects a row (PostgreSQL, appendix A). */
class FakeStoreError extends StoreError {
  readonly rowId = undefined;
  readonly sqlState: string;

  constructor(sqlState: string) {
    super('rejected');
    this.sqlState = sqlState;
  }

  get isRowRejected(): boolean {
    return this.sqlState.startsWith('23');
  }
}
const databaseError = (sqlState: string) => new FakeStoreError(sqlState);

test('stores messages together, about a thousand leads in one insert', async () => {
  const { drainer, seen } = setUp(
    [names(400, 'a'), names(500, 'b'), names(200, 'c'), names(3, 'd')],
    () => undefined,
  );
  await vi.waitFor(() => expect(seen.acknowledged).toHaveLength(1_103), soon);
  await drainer[Symbol.asyncDispose]();
  expect(seen.inserts).toEqual([900, 203]);
});

test('stores large messages in inserts of at most 2 MiB', async () => {
  const { drainer, seen } = setUp(
    [['a'], ['b'], ['c'], ['d'], ['e']],
    () => undefined,
    Promise.resolve(),
    1_000_000,
  );
  await vi.waitFor(() => expect(seen.acknowledged).toHaveLength(5), soon);
  await drainer[Symbol.asyncDispose]();
  expect(seen.inserts).toEqual([2, 2, 1]);
});

test('fetches the next messages while others are stored', async () => {
  let commit: () => void = () => undefined;
  const { drainer, seen } = setUp(
    Array.from({ length: 1_500 }, (_, n) => [String(n)]),
    () => undefined,
    new Promise((resolve) => {
      commit = resolve;
    }),
  );
  await vi.waitFor(() => expect([seen.fetches, seen.inserts]).toEqual([2, [1_000, 500]]), soon);
  expect(seen.acknowledged).toEqual([]);
  commit();
  await vi.waitFor(() => expect(seen.acknowledged).toHaveLength(1_500), soon);
  await drainer[Symbol.asyncDispose]();
});

test('quarantines a lead that Postgres rejects, and acknowledges its message', async () => {
  const { drainer, seen } = setUp([['a', 'poison'], ['b']], (name) =>
    name === 'poison' ? databaseError('23503') : undefined,
  );
  await vi.waitFor(() => expect(seen.acknowledged.toSorted()).toEqual(['a', 'b', 'poison']), soon);
  await drainer[Symbol.asyncDispose]();
  expect([seen.quarantined, seen.failures]).toEqual([1, 0]);
});

test('a message that cannot be stored or parsed stays in the buffer and delays no other', async () => {
  const { drainer, seen, waiting } = setUp([['bad'], ['a'], ['unreadable'], ['b']], (name) =>
    name === 'bad' ? databaseError('XX000') : undefined,
  );
  await vi.waitFor(() => expect(seen.acknowledged.toSorted()).toEqual(['a', 'b']), soon);
  await drainer[Symbol.asyncDispose]();
  expect(waiting.flat().toSorted()).toEqual(['bad', 'unreadable']);
  expect(seen.failures).toBeGreaterThanOrEqual(2);
});

test('while Postgres is unavailable, every lead stays in the buffer and single messages probe Postgres', async () => {
  let isUnavailable = true;
  const { drainer, breaker, seen, waiting } = setUp(
    Array.from({ length: 60 }, (_, n) => names(100, String(n))),
    () => (isUnavailable ? new LeadsError('unavailable') : undefined),
  );
  await vi.waitFor(() => expect(breaker.isOpen).toBe(true), soon);
  const tried = seen.inserts.length;
  await vi.waitFor(() => expect(seen.inserts.length).toBe(tried + 2), soon);
  expect(seen.inserts.slice(tried)).toEqual([100, 100]);
  expect(seen.acknowledged).toEqual([]);
  isUnavailable = false;
  await vi.waitFor(() => expect(seen.acknowledged).toHaveLength(6_000), soon);
  await drainer[Symbol.asyncDispose]();
  expect([waiting, seen.failures, breaker.isOpen]).toEqual([[], 0, false]);
});

test('requests have priority for a second, and disposal does not wait for it', async () => {
  const { drainer, seen, state } = setUp([['a']], () => undefined);
  state.isBusy = true;
  const start = performance.now();
  await vi.waitFor(() => expect(seen.acknowledged).toEqual(['a']), soon);
  expect(performance.now() - start).toBeGreaterThan(900);
  await drainer[Symbol.asyncDispose]();

  const other = setUp([['b']], () => undefined);
  other.state.isBusy = true;
  await vi.waitFor(() => expect(other.seen.yields).toBeGreaterThan(0), soon);
  const { yields } = other.seen;
  await other.drainer[Symbol.asyncDispose]();
  // The loop checks every 20 ms whether requests still have priority.
  expect(other.seen.yields - yields).toBeLessThanOrEqual(1);
});

test('reports a connected broker that fails to deliver once', async () => {
  const { drainer, seen, state } = setUp([['a']], () => undefined);
  state.isBroken = true;
  await vi.waitFor(() => expect(seen.fetches).toBeGreaterThan(3), soon);
  expect([seen.unread, seen.failures]).toEqual([1, 0]);
  state.isBroken = false;
  await vi.waitFor(() => expect(seen.acknowledged).toEqual(['a']), soon);
  await drainer[Symbol.asyncDispose]();
});

test('leaves the probe of Postgres to requests while the buffer delivers nothing', async () => {
  const { drainer, breaker, seen, state } = setUp([], () => undefined);
  state.isBroken = true;
  breaker.recordTimeout(performance.now());
  const { fetches } = seen;
  // Both loops may be in a fetch that began before the breaker opened. The third fetch begins when a probe is due.
  await vi.waitFor(() => expect(seen.fetches).toBeGreaterThan(fetches + 2), soon);
  expect(breaker.tryProbe()).toBe(true);
  await drainer[Symbol.asyncDispose]();
});
