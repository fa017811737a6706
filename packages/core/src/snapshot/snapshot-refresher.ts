import { setTimeout as sleep } from 'node:timers/promises';
import type { SnapshotSource, SnapshotStore } from './intake-snapshot.ts';

/** How old a snapshot may become before it is taken anew, in milliseconds. */
const renewedEveryMs = 15_000;
/** How often it is looked whether that is due; not all instances at once. */
const lookedEveryMs = () => 500 + Math.random() * 1_000;
const pauseAfterFailureMs = 5_000;

/**
 * Keeps a snapshot that is some seconds old at most, for as long as the database and the broker are there. Any number
 * of instances may: whoever finds it too old takes it.
 */
export class SnapshotRefresher implements AsyncDisposable {
  readonly #source: SnapshotSource;
  readonly #shelf: Omit<SnapshotStore, 'get'>;
  readonly #onError: (error: unknown) => void;
  readonly #isOver = new AbortController();
  readonly #running: Promise<void>;
  #standingAt = 0;
  #changedAt = 0;

  /** @param onError hears of the first failure of a row of them. */
  constructor(source: SnapshotSource, shelf: Omit<SnapshotStore, 'get'>, onError: (error: unknown) => void) {
    this.#source = source;
    this.#shelf = shelf;
    this.#onError = onError;
    this.#running = this.#run();
  }

  /** What is in the snapshot is not so any more: it is taken anew within two seconds. */
  noteChange(): void {
    this.#changedAt = Date.now();
  }

  async #run(): Promise<void> {
    const { signal } = this.#isOver;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await this.#renew();
        isFailing = false;
      } catch (error) {
        if (!isFailing) this.#onError(error);
        isFailing = true;
      }
      await sleep(isFailing ? pauseAfterFailureMs : lookedEveryMs(), undefined, { signal }).catch(
        () => undefined,
      );
    }
  }

  async #renew(): Promise<void> {
    const oldest = Math.max(Date.now() - renewedEveryMs, this.#changedAt);
    if (this.#standingAt > oldest || !this.#shelf.isConnected) return;
    const standing = await this.#shelf.find();
    this.#standingAt = standing?.at ?? 0;
    if (this.#standingAt > oldest) return;
    const snapshot = await this.#source.readSnapshot();
    await this.#shelf.put(snapshot, standing?.revision);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver.abort();
    await this.#running;
  }
}
