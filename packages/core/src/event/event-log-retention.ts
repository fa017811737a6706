import { BackgroundLoop } from '../background/background-loop.ts';
import type { EventLog } from './event-log.ts';

const intervalMs = 5_000;
/** The rows of one statement. Postgres cancels a statement of millions of rows, for example after a shorter retention. */
const maxRows = 10_000;
const pauseMs = 100;

/** Deletes expired events of the event log every few seconds. */
export class EventLogRetention implements AsyncDisposable {
  readonly #loop: BackgroundLoop;

  /**
   * @param keepMs how long events are kept, in milliseconds.
   * @param onError called once when a streak of failures begins.
   */
  constructor(log: Pick<EventLog, 'dropOlderThan'>, keepMs: number, onError: (error: unknown) => void) {
    const step = async () => ((await log.dropOlderThan(keepMs, maxRows)) === maxRows ? pauseMs : intervalMs);
    this.#loop = new BackgroundLoop({ step, onError, retryMs: intervalMs });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
