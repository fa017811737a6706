const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** The pauses before the second and each later attempt, in milliseconds (Standard Webhooks 1.0, "Deliverability"). */
const pausesMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
/** The largest relative change of a pause, so that the retries of an outage spread out. */
const jitter = 0.2;
const maxRetryAfterMs = 24 * hour;

/**
 * Returns the pause before the next attempt, in milliseconds; undefined after the last attempt.
 *
 * @param attempts the attempts so far, at least 1.
 * @param options.retryAfterSeconds the receiver's `Retry-After`. It extends the pause, up to 24 h.
 * @param options.random a number from 0 to 1.
 */
export function retryPauseMs(
  attempts: number,
  { retryAfterSeconds = 0, random = Math.random() }: { retryAfterSeconds?: number; random?: number } = {},
): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  if (pauseMs === undefined) return undefined;
  const jittered = pauseMs * (1 - jitter + 2 * jitter * random);
  return Math.round(Math.max(jittered, Math.min(retryAfterSeconds * second, maxRetryAfterMs)));
}
