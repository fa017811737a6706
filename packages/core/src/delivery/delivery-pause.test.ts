import { expect, test } from 'vitest';
import { deliveryPauseMs } from './delivery-pause.ts';

const pauseMs = (workMs: number, waitShare: number, lateSeconds = 0) =>
  deliveryPauseMs(workMs, { waitShare, lateSeconds });

test('a pause is 2 times as long as the work on an idle machine, and up to 60 times while the process waits for a processor', () => {
  expect([0, 0.1, 0.15, 0.2, 0.9].map((share) => Math.round(pauseMs(20, share)))).toEqual([
    50, 50, 620, 1_200, 1_200,
  ]);
});

test('a busy machine has less effect while deliveries are late, and none from 45 s on', () => {
  expect([0, 25, 35, 45, 3_600].map((late) => pauseMs(30, 0.5, late))).toEqual([1_800, 1_800, 930, 60, 60]);
  expect(pauseMs(80, 0, 3_600)).toBe(160);
});

test('a pause takes 50 ms to 2 s', () => {
  expect([pauseMs(1, 0), pauseMs(0.5, 0.5), pauseMs(60_000, 0), pauseMs(60_000, 0.5)]).toEqual([
    50, 50, 2_000, 2_000,
  ]);
});
