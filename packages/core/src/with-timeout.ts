/** The result of {@link withTimeout} if the time is over first. */
export const timedOut: unique symbol = Symbol('timedOut');

/**
 * Returns the result of work, or {@link timedOut} if it takes longer. The work then continues, and its outcome is ignored.
 * After this process stood still, what arrived meanwhile is still read in time.
 *
 * @throws the error of the work if it fails in time.
 */
export async function withTimeout<Result>(
  timeoutMs: number,
  work: Promise<Result>,
): Promise<Result | typeof timedOut> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof timedOut>((resolve) => {
    // Timers run before the input that has arrived is read, immediates after it.
    timer = setTimeout(() => setImmediate(resolve, timedOut), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
