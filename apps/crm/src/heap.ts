import { setFlagsFromString } from 'node:v8';

/**
 * Lets the old generation grow by 30 % of its live memory before V8 collects garbage. By default it grows fourfold. An import
 * of more than 100 MB then takes 266 to 283 MB, and with this flag 208 to 221 MB. Without the flag, lists at 64 connections
 * take 244 MB, and exports 188 to 205 MB. The young generation keeps its default size, because a smaller one would cost lists
 * a fifth of their rate.
 *
 * These figures are of Node 20, whose young generation takes up to 16 MB a half. On Node 24, exports took 320 MB and lists
 * 351 MB. `--max-semi-space-size=8`, which only the command line can set, lowers that to 204 and 235 MB, and imports to
 * 231 MB. Lists then take 401 instead of 368 us of processor time, and pg by hand takes 622. So the image starts the service with it.
 *
 * The flag costs lists little. At 64 connections, two processes took 404 and 404 us of processor time a list with 50, 380
 * and 404 us with 100, and 476 and 491 us without the flag. 30 was not measured. Their maximum memory was 231, 250 and 355 MB.
 * The processes were measured in turn, in 14 rounds.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=30');
}

/**
 * Keeps the heap of a process small that only sends deliveries. The young generation keeps its initial size, and the old
 * one grows by a fifth. Closed TLS connections leave memory only when V8 collects garbage, and their native memory does
 * not make it do so. With 1,000 receivers over https, the process took 187 to 199 instead of 235 MB, for 5 % more
 * processor time.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=20');
  setFlagsFromString('--semi-space-growth-factor=1');
}
