import { BackgroundLoop } from '../background/background-loop.ts';

/** The pause between two checks, in milliseconds. With it, a member who left has no leads after some seconds. */
const intervalMs = 5_000;
/** The maximum number of leads that one transaction changes. */
const leadsPerTransaction = 500;

/** The store of assigned leads. */
export interface AssigneeStore {
  /**
   * Removes a user without the role owner or manager in the workspace from at most `limit` of its leads. The histories
   * of the leads contain the change.
   *
   * @returns the number of leads; 0 if there are none, or if another process does this.
   */
  unassignGone(limit: number): Promise<number>;
}

/** Removes users who left a workspace, or became publishers, from the leads that are assigned to them. */
export class AssigneeRemover implements AsyncDisposable {
  readonly #loop: BackgroundLoop;

  /** @param onError called once when a streak of failures begins. */
  constructor(store: AssigneeStore, onError: (error: unknown) => void) {
    this.#loop = new BackgroundLoop({
      step: async () => ((await store.unassignGone(leadsPerTransaction)) === 0 ? intervalMs : 0),
      onError,
      firstPauseMs: intervalMs,
      retryMs: intervalMs,
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
