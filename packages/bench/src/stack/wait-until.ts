import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again whether a condition holds.
 *
 * @returns false when it does not hold until the timeout.
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
