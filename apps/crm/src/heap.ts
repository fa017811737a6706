import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap close to the live memory. By default, V8 lets the heap grow by a multiple before it collects garbage.
 * With these flags, the heap grows by 30 %. Without them, an export of 700,000 leads took 266 MB, in a process that
 * starts with 130 MB. The walk alone took 275 MB on Node 24. With them, the walk takes 110 MB at the same speed.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
}
