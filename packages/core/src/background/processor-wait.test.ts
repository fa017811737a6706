import { expect, test } from 'vitest';
import { type ProcessReadings, ProcessorWait, readProcess } from './processor-wait.ts';

/** Returns the measure after seconds with a busy time and a processor time, in milliseconds. */
function shareAfter(seconds: readonly (readonly [busyMs: number, processorMs: number])[]): number {
  let readings: ProcessReadings = { atMs: 0, busyMs: 5_000, processorMs: 3_000 };
  const wait = new ProcessorWait(() => readings);
  let share = wait.share();
  for (const [busyMs, processorMs] of seconds) {
    readings = {
      atMs: readings.atMs + 1_000,
      busyMs: readings.busyMs + busyMs,
      processorMs: readings.processorMs + processorMs,
    };
    share = wait.share();
  }
  return share;
}

test('a process that is busy without processor time waits for a processor, and one that uses its time does not', () => {
  expect(shareAfter([])).toBe(0);
  expect(shareAfter([[900, 900]])).toBe(0);
  expect(shareAfter([[900, 300]])).toBeCloseTo(2 / 3);
  // Other threads, such as that of the garbage collector, also use processor time.
  expect(shareAfter([[900, 1_400]])).toBe(0);
});

test('earlier seconds lose half of their weight each second, and seconds without work change nothing', () => {
  expect(
    shareAfter([
      [600, 0],
      [600, 600],
    ]),
  ).toBeCloseTo(1 / 3);
  expect(shareAfter([[600, 0], ...Array.from({ length: 10 }, () => [600, 600] as const)])).toBeLessThan(
    0.001,
  );
  expect(
    shareAfter([
      [600, 300],
      [0, 0],
      [0, 0],
    ]),
  ).toBeCloseTo(0.5);
});

test('the readings of this process are milliseconds', () => {
  const startMs = performance.now();
  const before = readProcess();
  const betweenMs = performance.now();
  const processorBefore = process.cpuUsage();
  while (process.cpuUsage(processorBefore).user < 50_000);
  const workedMs = performance.now() - betweenMs;
  const after = readProcess();
  const elapsedMs = performance.now() - startMs;
  const processorMs = after.processorMs - before.processorMs;
  expect(processorMs).toBeGreaterThanOrEqual(50);
  // Several threads may have run.
  expect(processorMs).toBeLessThan(100 * elapsedMs);
  // This test is one turn of the event loop. The readings are not of one instant.
  for (const ms of [after.busyMs - before.busyMs, after.atMs - before.atMs]) {
    expect(ms).toBeGreaterThan(workedMs - 0.1);
    expect(ms).toBeLessThan(elapsedMs + 0.1);
  }
});
