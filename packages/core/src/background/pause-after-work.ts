/** The pauses after pieces of work, in durations of the work. */
export interface WorkPauses {
  /** The pause while the work is less than `from` seconds late. */
  readonly longest: number;
  readonly from: number;
  /** The pause while the work is more than `to` seconds late. */
  readonly shortest: number;
  readonly to: number;
}

/**
 * Returns the pause after a piece of background work, so that requests get most of the time of Postgres. Work takes longer
 * while Postgres is busy, and so do the pauses. When the work is late, they become shorter.
 *
 * @param workMs the duration of the work, in milliseconds.
 */
export function pauseAfterWork(
  workMs: number,
  lateSeconds: number,
  { longest, from, shortest, to }: WorkPauses,
): number {
  const lateness = Math.min(Math.max((lateSeconds - from) / (to - from), 0), 1);
  return workMs * (longest + (shortest - longest) * lateness);
}
