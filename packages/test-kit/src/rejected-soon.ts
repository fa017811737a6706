import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

/** A revocation takes effect in all instances within this time, in milliseconds. */
export const rejectedWithinMs = 10_000;

/**
 * Sends requests with a credential that was valid until a time, until they are rejected or one that was sent
 * {@link rejectedWithinMs} after that time is accepted. The duration of a request depends on the machine.
 *
 * @param endedAt in milliseconds since 1970.
 * @param isRejected sends requests and returns whether all were rejected.
 * @returns the milliseconds after `endedAt` at which the last accepted request was sent; 0 if none was.
 */
export async function lastAcceptedMs(endedAt: number, isRejected: () => Promise<boolean>): Promise<number> {
  let acceptedMs = 0;
  while (acceptedMs < rejectedWithinMs) {
    const sentMs = Date.now() - endedAt;
    if (await isRejected()) break;
    acceptedMs = sentMs;
    await sleep(300);
  }
  return acceptedMs;
}

/**
 * Expects that the requests with a credential that was just revoked are soon answered with 401.
 *
 * @param send sends a request and returns the status of its response.
 */
export async function expectRejectedSoon(send: () => Promise<number>): Promise<void> {
  const acceptedMs = await lastAcceptedMs(Date.now(), async () => (await send()) === 401);
  expect(acceptedMs).toBeLessThan(rejectedWithinMs);
}
