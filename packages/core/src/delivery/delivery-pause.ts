import { pauseAfterWork } from '../background/pause-after-work.ts';

/** Pauses in durations of the work: on an idle machine, and on a busy one. */
const factors = { idle: 2, busy: 60 };
/** The share of the time without a processor up to which the machine is idle, and from which it is busy. */
const busyness = { from: 0.1, to: 0.2 };
/** While deliveries are late, a busy machine has less effect: none from `to` seconds on. */
const lateness = { from: 25, to: 45 };
/**
 * The bounds of a pause in milliseconds. Deliveries and results of the shortest one share a statement. After the longest one,
 * deliveries continue however slow the database is.
 */
const bounds = { min: 50, max: 2_000 };

/**
 * Returns the pause after work of the deliverer, so that requests for leads run first. A loop works for a third of the time at
 * most. On a busy machine, it works for a sixtieth.
 *
 * @param workMs the duration of the work, in milliseconds.
 * @param waitShare the share of its busy time in which the process waited for a processor.
 * @param lateSeconds the time from a change of a lead to the claim of its delivery.
 */
export function deliveryPauseMs(
  workMs: number,
  { waitShare, lateSeconds }: { readonly waitShare: number; readonly lateSeconds: number },
): number {
  const { idle, busy } = factors;
  const { from, to } = busyness;
  const longest = idle + (busy - idle) * Math.min(Math.max((waitShare - from) / (to - from), 0), 1);
  const pauseMs = pauseAfterWork(workMs, lateSeconds, { longest, shortest: idle, ...lateness });
  return Math.min(bounds.max, Math.max(bounds.min, pauseMs));
}
