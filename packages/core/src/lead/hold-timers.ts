import { BackgroundLoop } from '../background/background-loop.ts';
import { pauseAfterWork } from '../background/pause-after-work.ts';

/** The pause between two checks, in milliseconds. A due lead becomes Approved within some seconds. */
const intervalMs = 5_000;
/**
 * The leads of one transaction. A larger transaction would delay creates and the changes of single leads for longer. Smaller
 * ones cost more in total: Postgres takes 0.9 ms for each transaction, and 0.07 ms for each lead.
 */
export const approvalBatchSize = 25;
/** The pause after a batch, in durations of the batch: when leads are due for `from` seconds, and for `to` seconds. */
const pauses = { longest: 6, from: 25, shortest: 0.5, to: 45 };
const retryMs = { min: 500, max: 30_000 };

/** The reason in the history of a lead that became Approved at the end of its hold time. The change has no user. */
export const holdEndedReason = 'hold_ended';

/**
 * Returns the pause after a batch. It spreads the approvals, so that creates seldom meet one. When leads are late, it is shorter,
 * so that one slow instance also approves 100,000 leads in less than a minute.
 *
 * @param batchMs the duration of the batch, with its wait for other instances.
 */
export function pauseAfter(batchMs: number, lateSeconds: number): number {
  return pauseAfterWork(batchMs, lateSeconds, pauses);
}

/** The result of one transaction. */
interface ApprovedLeads {
  readonly approved: number;
  /** The number of due leads that the transaction dealt with. Some get a later time, or no timer any more. */
  readonly taken: number;
  /** How long the first of them was due, in seconds. */
  readonly lateSeconds: number;
}

/** The leads of a campaign that wait for their approval. */
export interface WaitingLeads {
  /** The slug of the workspace. */
  readonly workspace: string;
  readonly campaignCode: string;
  readonly approveAfterSeconds: number;
  readonly leads: number;
  /** The number of these that are due now. */
  readonly due: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** The leads of a campaign that a person holds. */
export interface HeldLeads {
  /** The slug of the workspace. */
  readonly workspace: string;
  readonly campaignCode: string;
  readonly leads: number;
  /** When the first and the last of them were created. */
  readonly firstCreatedAt: Date;
  readonly lastCreatedAt: Date;
}

/** The leads with a hold time. Methods throw LeadsError `unavailable` without the database. */
export interface HoldTimerStore {
  /**
   * Approves due leads, the longest due first, in one transaction. Leads that another transaction has locked are skipped.
   * Transactions of several processes run one after the other, so that approvals never use more than one processor of
   * Postgres.
   *
   * @param limit the maximum number of leads.
   */
  approveDue(limit: number): Promise<ApprovedLeads>;

  /** Returns the waiting leads of all workspaces by campaign. Held leads do not wait. Requires the tables' owner. */
  listWaiting(): Promise<WaitingLeads[]>;

  /**
   * Returns the leads of all workspaces that a person holds, by campaign. Requires the tables' owner. It reads all leads on
   * hold, because held leads are in no index of their own.
   */
  listHeld(): Promise<HeldLeads[]>;
}

/**
 * Approves all leads that are due.
 *
 * @param onApproved called with the number of leads after each transaction.
 */
export async function approveAllDue(
  timers: HoldTimerStore,
  onApproved: (leads: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let taken = approvalBatchSize;
  while (taken === approvalBatchSize && !signal.aborted) {
    const batch = await timers.approveDue(approvalBatchSize);
    onApproved(batch.approved);
    taken = batch.taken;
  }
}

/** Approves the leads of all workspaces at the end of their hold times, until it is disposed. Any process may run one. */
export class HoldTimers implements AsyncDisposable {
  readonly #loop: BackgroundLoop;
  #approvedCount = 0;
  #lateSeconds = 0;

  /** @param onError called once when a streak of failures begins. */
  constructor(timers: Pick<HoldTimerStore, 'approveDue'>, onError: (error: unknown) => void) {
    this.#loop = new BackgroundLoop({
      step: async () => {
        const startMs = performance.now();
        const { approved, taken, lateSeconds } = await timers.approveDue(approvalBatchSize);
        this.#approvedCount += approved;
        this.#lateSeconds = lateSeconds;
        if (taken < approvalBatchSize) return intervalMs;
        return pauseAfter(performance.now() - startMs, lateSeconds);
      },
      onError,
      firstPauseMs: intervalMs,
      retryMs,
    });
  }

  /** The number of leads that this process has approved. */
  get approvedCount(): number {
    return this.#approvedCount;
  }

  /** How long the first due lead of the last check was due, in seconds; 0 if none was. */
  get lateSeconds(): number {
    return this.#lateSeconds;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
