import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FairQueue } from './fair-queue.ts';
import { RecentTenants } from './recent-tenants.ts';

/** Creates a queue whose tasks run until the test ends them. `started` lists the tasks in the order of their starts. */
function openQueue(slots: number, isPaced?: (tenant: string) => boolean) {
  let now = 0;
  const queue = new FairQueue(slots, { nowMs: () => now, ...(isPaced && { isPaced }) });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string, options?: Parameters<FairQueue['run']>[2]) =>
    queue.run(
      name.slice(0, 1),
      () => {
        started.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      },
      options,
    );
  return {
    queue,
    started,
    add,
    end: async (name: string) => {
      ends.get(name)?.();
      // The next task starts some microtasks later.
      await new Promise(setImmediate);
    },
    advance: (ms: number) => {
      now += ms;
    },
  };
}

const tooMany = { code: 'too_many_requests', retryAfterSeconds: 1 };

describe('a fair queue', () => {
  test('gives one tenant half of the slots at most, and starts the task of another tenant at once', () => {
    const { add, started, queue } = openQueue(4);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3']) void add(name);
    expect(started).toEqual(['a1', 'a2', 'b1', 'b2']);
    expect(queue.load).toEqual({ running: 4, waiting: 4 });
  });

  test('lets waiting tenants take turns, whatever the number of their tasks', async () => {
    const { add, started, end } = openQueue(2);
    for (const name of ['a1', 'b1', 'a2', 'a3', 'a4', 'c1', 'c2', 'd1']) void add(name);
    expect(started).toEqual(['a1', 'b1']);
    for (const name of ['b1', 'c1', 'd1', 'a1', 'a2', 'c2', 'a3']) await end(name);
    expect(started).toEqual(['a1', 'b1', 'c1', 'd1', 'c2', 'a2', 'a3', 'a4']);
  });

  test('rejects a task while 256 tasks of its tenant wait, except a patient one', async () => {
    const { add, queue } = openQueue(2);
    for (let index = 0; index < 257; index++) void add(`a${index}`);
    await expect(add('a257')).rejects.toMatchObject(tooMany);
    void add('a258', { isPatient: true });
    expect(queue.load).toEqual({ running: 1, waiting: 257 });
    void add('b1');
    expect(queue.load).toEqual({ running: 2, waiting: 257 });
  });

  test('rejects a task that has waited longer than 10 s when its turn comes, except a patient one', async () => {
    const { add, started, end, advance } = openQueue(2);
    void add('a1');
    const rejected = add('a2').catch((error: unknown) => error);
    void add('a3', { isPatient: true });
    advance(10_001);
    await end('a1');
    expect(await rejected).toMatchObject(tooMany);
    expect(started).toEqual(['a1', 'a3']);
  });

  test('removes a waiting task when its signal aborts, and a running task runs to its end', async () => {
    const { add, queue, started, end } = openQueue(2);
    const stop = new AbortController();
    const { signal } = stop;
    const running = add('a1', { signal });
    const removed = Promise.allSettled([add('a2', { signal }), add('a3', { isPatient: true, signal })]);
    void add('a4');
    void add('b1');
    const removedLast = add('b2', { signal }).catch((error: unknown) => error);
    expect(queue.load).toEqual({ running: 2, waiting: 4 });
    stop.abort('stopped');
    const reason = 'stopped';
    expect(await removed).toMatchObject([{ reason }, { reason }]);
    expect(await removedLast).toBe(reason);
    expect(queue.load).toEqual({ running: 2, waiting: 1 });
    await expect(add('c1', { signal })).rejects.toBe('stopped');
    await end('a1');
    await running;
    expect(started).toEqual(['a1', 'b1', 'a4']);
    await end('b1');
    await end('a4');
    expect(queue.load).toEqual({ running: 0, waiting: 0 });
  });

  test('keeps the waiting tasks when the signal of a task aborts that has waited and started', async () => {
    const { add, queue, end } = openQueue(1);
    const stop = new AbortController();
    for (const name of ['a1', 'a2', 'a3']) void add(name, name === 'a2' ? { signal: stop.signal } : {});
    await end('a1');
    stop.abort();
    expect(queue.load).toEqual({ running: 1, waiting: 1 });
  });

  test('runs one task of a paced tenant at a time, and pauses after it for its duration, up to 100 ms', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { add, started, end, advance } = openQueue(6, (tenant) => tenant === 'a');
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) void add(name);
    expect(started).toEqual(['a1', 'b1', 'b2', 'b3']);
    advance(20);
    await end('a1');
    vi.advanceTimersByTime(19);
    await new Promise(setImmediate);
    expect(started).not.toContain('a2');
    vi.advanceTimersByTime(1);
    await new Promise(setImmediate);
    expect(started.at(-1)).toBe('a2');
    advance(5_000);
    await end('a2');
    vi.advanceTimersByTime(100);
    await new Promise(setImmediate);
    expect(started.at(-1)).toBe('a3');
  });

  test('frees the slot of a task that fails', async () => {
    const { queue } = openQueue(1);
    await expect(queue.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await queue.run('b', async () => 'done')).toBe('done');
    expect(queue.load).toEqual({ running: 0, waiting: 0 });
  });
});

test('another tenant is recent for 1 s after its last request', () => {
  let now = 0;
  const recent = new RecentTenants(() => now);
  const others = () => ['a', 'b', 'c'].map((tenant) => recent.hasOther(tenant));
  expect(others()).toEqual([false, false, false]);
  recent.note('a');
  expect(others()).toEqual([false, true, true]);
  now = 500;
  recent.note('b');
  recent.note('b');
  expect(others()).toEqual([true, true, true]);
  now = 1_000;
  expect(others()).toEqual([true, false, true]);
  now = 1_500;
  expect(others()).toEqual([false, false, false]);
});
