/** What {@link withTimeout} tells where the time was over first. */
export const timedOut: unique symbol = Symbol('timedOut');

/**
 * What some work comes to, or {@link timedOut} where that takes longer: the work then goes on by itself, and how it ends is
 * nobody's.
 *
 * @throws what the work throws in time.
 */
export async function withTimeout<Result>(
  timeoutMs: number,
  work: Promise<Result>,
): Promise<Result | typeof timedOut> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsOver = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, timedOut);
  });
  try {
    return await Promise.race([work, timeIsOver]);
  } finally {
    clearTimeout(timer);
  }
}
