import { LeadsError } from '../errors.ts';

/**
 * The most waiting tasks of one tenant, and the longest wait of a task, in milliseconds. A client that waits costs less
 * than a client that repeats rejected requests.
 */
const maxWaiting = 256;
const maxWaitMs = 10_000;
/** The maximum pause after a task of a paced tenant, in milliseconds. */
const maxPauseMs = 100;

/** A task that waits for its turn. */
interface WaitingTask {
  /** Ends the wait: the task starts, or fails with the error. */
  end(error?: LeadsError): void;
  /** By `performance.now()`. */
  readonly expiresAt: number;
}

/**
 * Runs costly tasks of many tenants, a limited number at a time. One tenant gets at most half of the slots, so that
 * the task of another tenant starts at once. While all slots are in use, the tenants take turns, whatever the number of
 * their tasks. A paced tenant runs one task at a time, and pauses after each for as long as the task took. So it takes at
 * most half of one slot, and the more it delays others, the longer it pauses.
 */
export class FairQueue {
  readonly #slots: number;
  readonly #share: number;
  readonly #now: () => number;
  readonly #isPaced: (tenant: string) => boolean;
  readonly #running = new Map<string, number>();
  #runningTotal = 0;
  /** The waiting tasks by tenant, in the order of the tenants' turns. */
  readonly #waiting = new Map<string, WaitingTask[]>();

  /**
   * @param slots the most tasks that run at a time.
   * @param options.isPaced whether a tenant is paced at present. Default: no tenant is.
   * @param options.nowMs a clock in milliseconds, for tests.
   */
  constructor(
    slots: number,
    {
      isPaced = () => false,
      nowMs = () => performance.now(),
    }: { isPaced?: (tenant: string) => boolean; nowMs?: () => number } = {},
  ) {
    this.#slots = slots;
    this.#share = Math.max(1, Math.floor(slots / 2));
    this.#isPaced = isPaced;
    this.#now = nowMs;
  }

  /**
   * Runs a task when the turn of its tenant comes.
   *
   * @param options.isPatient whether the task waits without a limit, because its response has begun.
   * @param options.signal removes the task from the queue. `run` then throws the reason of the signal. A task that has
   *   started runs to its end.
   * @throws LeadsError `too_many_requests` if too many tasks of the tenant wait, or if the task has waited too long.
   */
  async run<Result>(
    tenant: string,
    task: () => Promise<Result>,
    { isPatient = false, signal }: { isPatient?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#mayStart(tenant)) this.#count(tenant, 1);
    else await this.#turnOf(tenant, isPatient, signal);
    const startedAt = this.#now();
    try {
      return await task();
    } finally {
      const end = () => {
        this.#count(tenant, -1);
        this.#startNext();
      };
      if (this.#isPaced(tenant)) setTimeout(end, Math.min(this.#now() - startedAt, maxPauseMs));
      else end();
    }
  }

  /** The numbers of tasks that run and that wait. */
  get load(): { readonly running: number; readonly waiting: number } {
    const waiting = [...this.#waiting.values()].reduce((sum, tasks) => sum + tasks.length, 0);
    return { running: this.#runningTotal, waiting };
  }

  #mayStart(tenant: string): boolean {
    const share = this.#isPaced(tenant) ? 1 : this.#share;
    return this.#runningTotal < this.#slots && (this.#running.get(tenant) ?? 0) < share;
  }

  #count(tenant: string, change: 1 | -1): void {
    const count = (this.#running.get(tenant) ?? 0) + change;
    if (count === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, count);
    this.#runningTotal += change;
  }

  /** Waits for a slot. When the promise resolves, the slot is counted. */
  async #turnOf(tenant: string, isPatient: boolean, signal: AbortSignal | undefined): Promise<void> {
    const tasks = this.#waiting.get(tenant) ?? [];
    if (!isPatient && tasks.length >= maxWaiting) throw tooMany();
    this.#waiting.set(tenant, tasks);
    const expiresAt = isPatient ? Number.POSITIVE_INFINITY : this.#now() + maxWaitMs;
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        tasks.splice(tasks.indexOf(task), 1);
        if (tasks.length === 0) this.#waiting.delete(tenant);
        reject(signal?.reason);
      };
      const task: WaitingTask = {
        end(error) {
          signal?.removeEventListener('abort', leave);
          if (error === undefined) resolve();
          else reject(error);
        },
        expiresAt,
      };
      signal?.addEventListener('abort', leave, { once: true });
      tasks.push(task);
    });
  }

  #startNext(): void {
    // A tenant that is set again comes last, so the loop visits it again.
    for (const [tenant, tasks] of this.#waiting) {
      if (!this.#mayStart(tenant)) continue;
      this.#waiting.delete(tenant);
      const task = tasks.shift();
      if (tasks.length > 0) this.#waiting.set(tenant, tasks);
      if (task === undefined) continue;
      if (this.#now() > task.expiresAt) {
        task.end(tooMany());
        continue;
      }
      this.#count(tenant, 1);
      task.end();
    }
  }
}

function tooMany(): LeadsError {
  return new LeadsError('too_many_requests', {
    message:
      'Too many searches, counts, overviews, payments and changes of members of this workspace are in progress: try again later',
    retryAfterSeconds: 1,
  });
}
