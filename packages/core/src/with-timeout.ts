/** The result of {@link withTimeout} if the time is over first. */
export const timedOut: unique symbol = Symbol('timedOut');

/**
 * Returns the result of work, or {@link timedOut} if it takes longer. The work then continues, and its outcome is ignored.
 *
 * @throws the error of the work if it fails in time.
 */
export async function withTimeout<Result>(
  timeoutMs: number,
  work: Promise<Result>,
): Promise<Result | typeof timedOut> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, timedOut);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
