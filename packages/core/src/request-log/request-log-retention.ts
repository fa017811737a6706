import { BackgroundLoop } from '../background/background-loop.ts';
import { type RequestLogStore, utcDay } from './request-log-store.ts';

/** How long requests are kept, and their counts, in days. */
const requestDays = 30;
export const usageDays = 90;

const dayMs = 86_400_000;
const intervalMs = 3_600_000;
/** The requests of one statement, so that it ends in time. */
const maxRequests = 10_000;
const pauseMs = 100;
const retryMs = 60_000;

/** Deletes expired requests and counts of the request log every hour. */
export class RequestLogRetention implements AsyncDisposable {
  readonly #loop: BackgroundLoop;

  /** @param onError called once when a streak of failures begins. */
  constructor(store: Pick<RequestLogStore, 'dropBefore'>, onError: (error: unknown) => void) {
    const step = async () => {
      const now = Date.now();
      const requestsBefore = new Date(now - requestDays * dayMs);
      const countsBeforeDay = utcDay(new Date(now - (usageDays - 1) * dayMs));
      const deleted = await store.dropBefore(requestsBefore, countsBeforeDay, maxRequests);
      return deleted === maxRequests ? pauseMs : intervalMs;
    };
    this.#loop = new BackgroundLoop({ step, onError, retryMs });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
