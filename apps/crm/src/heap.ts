import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap near what is in use: it grows by 30 % before garbage is collected, not by a multiple. V8 would rather
 * have memory lie about than collect: an export of 700,000 leads took 266 MB of a process that begins with 130, the
 * walk by itself 275 MB on Node 24. With this the walk takes 110 MB, at the same speed.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
}
