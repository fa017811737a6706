import { BackgroundLoop } from '../background/background-loop.ts';
import type { EventLog } from './event-log.ts';

const intervalMs = 5_000;

/** Deletes expired events of the event log every few seconds. */
export class EventLogRetention implements AsyncDisposable {
  readonly #loop: BackgroundLoop;

  /**
   * @param keepMs how long events are kept, in milliseconds.
   * @param onError called once when a streak of failures begins.
   */
  constructor(log: Pick<EventLog, 'dropBefore'>, keepMs: number, onError: (error: unknown) => void) {
    const step = async () => {
      await log.dropBefore(new Date(Date.now() - keepMs));
      return intervalMs;
    };
    this.#loop = new BackgroundLoop({ step, onError, retryMs: intervalMs });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
