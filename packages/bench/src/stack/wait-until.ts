import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls a condition until it holds.
 *
 * @returns false after the timeout.
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  intervalMs = 50,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await sleep(intervalMs);
  }
  return true;
}
