/** What {@link within} tells where the time was over first. */
export const late: unique symbol = Symbol('late');

/**
 * What some work comes to, or {@link late} where that takes longer: the work then goes on by itself, and how it ends is
 * nobody's.
 *
 * @throws what the work throws in time.
 */
export async function within<Result>(
  timeoutMs: number,
  work: Promise<Result>,
): Promise<Result | typeof late> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsOver = new Promise<typeof late>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, late);
  });
  try {
    return await Promise.race([work, timeIsOver]);
  } finally {
    clearTimeout(timer);
  }
}
