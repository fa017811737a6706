import { expect } from 'vitest';

const rejectedWithinMs = 10_000;

/**
 * Sends requests with a credential that was just revoked until one is answered with 401. Requests that are sent 10 s after
 * the revocation must be rejected. Their duration depends on the machine.
 *
 * @param send sends a request and returns the status of its response.
 */
export async function expectRejectedSoon(send: () => Promise<number>): Promise<void> {
  const revokedAt = performance.now();
  let acceptedMs = 0;
  const status = async () => {
    const sentMs = performance.now() - revokedAt;
    const answered = await send();
    if (answered !== 401) acceptedMs = sentMs;
    return answered;
  };
  await expect.poll(status, { interval: 300 }).toBe(401);
  expect(acceptedMs).toBeLessThan(rejectedWithinMs);
}
