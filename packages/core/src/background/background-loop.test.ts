import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createGate } from '../../test/gate.ts';
import { BackgroundLoop, untilWoken } from './background-loop.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Returns a step that returns the given pauses and throws the given errors. After the last one it waits to be woken. */
function scripted(...results: readonly (number | Error)[]) {
  const left = [...results];
  return vi.fn<(signal: AbortSignal) => Promise<number>>(async () => {
    const result = left.shift() ?? untilWoken;
    if (result instanceof Error) throw result;
    return result;
  });
}

test('runs the first step at once, and each next step after the pause that the step returns', async () => {
  const step = scripted(1_000, 0, 500);
  await using _loop = new BackgroundLoop({ step, retryMs: 1 });
  expect(step).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(999);
  expect(step).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(step).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(500);
  expect(step).toHaveBeenCalledTimes(4);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(step).toHaveBeenCalledTimes(4);
});

test('pauses before the first step if a first pause is given', async () => {
  const step = scripted();
  await using _loop = new BackgroundLoop({ step, retryMs: 1, firstPauseMs: 5_000 });
  await vi.advanceTimersByTimeAsync(4_999);
  expect(step).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(step).toHaveBeenCalledTimes(1);
});

test('reports the first error of each streak, and doubles the pause up to its maximum', async () => {
  const errors = [1, 2, 3, 4, 5].map((number) => new Error(String(number)));
  const [first, second, third, fourth, later] = errors as [Error, Error, Error, Error, Error];
  const step = scripted(first, second, third, fourth, 50, later);
  const onError = vi.fn<(error: unknown) => void>();
  await using _loop = new BackgroundLoop({ step, onError, retryMs: { min: 250, max: 600 } });
  const calls: number[] = [];
  for (const pauseMs of [250, 500, 600, 600, 50, 250]) {
    await vi.advanceTimersByTimeAsync(pauseMs - 1);
    calls.push(step.mock.calls.length);
    await vi.advanceTimersByTimeAsync(1);
    calls.push(step.mock.calls.length);
  }
  expect(calls).toEqual([1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7]);
  expect(onError.mock.calls).toEqual([[first], [later]]);
});

test('reports every error of a streak if reportsEveryError is set', async () => {
  const step = scripted(new Error('first'), new Error('second'));
  const onError = vi.fn<(error: unknown) => void>();
  await using _loop = new BackgroundLoop({ step, onError, reportsEveryError: true, retryMs: 5_000 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(onError).toHaveBeenCalledTimes(2);
});

test('wake ends a pause, also the pause after a failure', async () => {
  const step = scripted(untilWoken, new Error('failed'));
  await using loop = new BackgroundLoop({ step, retryMs: untilWoken });
  await nextTurn();
  for (const calls of [2, 3]) {
    loop.wake();
    loop.wake();
    await nextTurn();
    expect(step).toHaveBeenCalledTimes(calls);
  }
});

test('wake during a step makes the next step follow without a pause', async () => {
  const gate = createGate();
  const step = vi.fn<() => Promise<number>>(async () => {
    await gate.opened;
    return untilWoken;
  });
  await using loop = new BackgroundLoop({ step, retryMs: 1 });
  loop.wake();
  await nextTurn();
  expect(step).toHaveBeenCalledTimes(1);
  gate.open();
  await nextTurn();
  expect(step).toHaveBeenCalledTimes(2);
});

test('disposal aborts the signal, waits for the step in progress and starts no other step', async () => {
  const gate = createGate();
  let stepSignal: AbortSignal | undefined;
  const step = vi.fn<(signal: AbortSignal) => Promise<number>>(async (signal) => {
    stepSignal = signal;
    await gate.opened;
    return 0;
  });
  const loop = new BackgroundLoop({ step, retryMs: 1 });
  let isDisposed = false;
  const disposing = loop[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await nextTurn();
  expect([stepSignal?.aborted, isDisposed]).toEqual([true, false]);
  gate.open();
  await disposing;
  expect(step).toHaveBeenCalledTimes(1);
});

test('disposal ends a pause and leaves no timer', async () => {
  const step = scripted(60_000);
  const loop = new BackgroundLoop({ step, retryMs: 1 });
  await nextTurn();
  expect(vi.getTimerCount()).toBe(1);
  await loop[Symbol.asyncDispose]();
  await loop[Symbol.asyncDispose]();
  expect([vi.getTimerCount(), step.mock.calls.length]).toEqual([0, 1]);
});

test('disposal runs the final step once, and reports its error', async () => {
  const failure = new Error('failed');
  const step = scripted(60_000, failure);
  const onError = vi.fn<(error: unknown) => void>();
  const loop = new BackgroundLoop({ step, onError, retryMs: 1, hasFinalStep: true });
  await nextTurn();
  await loop[Symbol.asyncDispose]();
  await loop[Symbol.asyncDispose]();
  expect(step).toHaveBeenCalledTimes(2);
  expect(onError.mock.calls).toEqual([[failure]]);
});

test('a pause does not keep the process alive', async () => {
  vi.useRealTimers();
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => setTimer.mockRestore());
  const pauseMs = 61_234;
  await using _loop = new BackgroundLoop({ step: async () => pauseMs, retryMs: 1 });
  await nextTurn();
  // Other timers of the process are not of the loop.
  const at = setTimer.mock.calls.findIndex(([, ms]) => ms === pauseMs);
  expect(setTimer.mock.results[at]?.value.hasRef()).toBe(false);
});
