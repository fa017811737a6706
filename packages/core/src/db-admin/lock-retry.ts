import pg from 'pg';

/** The retries for a lock. While a session waits for a table's lock, all other users of the table wait behind it. */
export interface LockRetryPolicy {
  /**
   * The maximum wait of one attempt for a lock, in milliseconds. It must be shorter than the timeout of the services. It
   * must be at most half of `deadlock_timeout`, so that in a deadlock this session gives up first.
   */
  readonly timeoutMs: number;
  /** The pause between attempts, in which other users of the table continue, in milliseconds. */
  readonly pauseMs: number;
  readonly maxAttempts: number;
}

export const defaultLockRetryPolicy: LockRetryPolicy = { timeoutMs: 500, pauseMs: 2_000, maxAttempts: 40 };

/** SQLSTATE 55P03 (lock_not_available) or 40P01 (deadlock_detected). */
export function isLockConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '55P03' || error.code === '40P01');
}
