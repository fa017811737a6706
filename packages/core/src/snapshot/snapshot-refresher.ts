import { BackgroundLoop } from '../background/background-loop.ts';
import type { SnapshotSource, SnapshotStore } from './intake-snapshot.ts';

/** The age at which a snapshot is replaced, in milliseconds. */
const maxAgeMs = 15_000;
/** The pause between two checks of the age. It is random so that instances check at different times. */
const checkIntervalMs = () => 500 + Math.random() * 1_000;
const retryMs = 5_000;
/** How far the clock of another instance may be ahead. A snapshot of a later time is replaced: its age is unknown. */
const maxClockSkewMs = 5_000;

/**
 * Keeps the stored snapshot a few seconds old while the database and the broker are available. Of several instances,
 * the first that finds the snapshot too old replaces it.
 */
export class SnapshotRefresher implements AsyncDisposable {
  readonly #source: SnapshotSource;
  readonly #store: Omit<SnapshotStore, 'get'>;
  readonly #loop: BackgroundLoop;
  #storedAt = 0;
  #changedAt = 0;

  /** @param onError called once when a streak of failures begins. */
  constructor(source: SnapshotSource, store: Omit<SnapshotStore, 'get'>, onError: (error: unknown) => void) {
    this.#source = source;
    this.#store = store;
    this.#loop = new BackgroundLoop({
      step: async () => {
        await this.#refresh();
        return checkIntervalMs();
      },
      onError,
      retryMs,
    });
  }

  /** Marks the snapshot as outdated: it is replaced within two seconds. */
  noteChange(): void {
    this.#changedAt = Date.now();
  }

  async #refresh(): Promise<void> {
    const now = Date.now();
    const oldest = Math.max(now - maxAgeMs, this.#changedAt);
    const isNew = () => this.#storedAt > oldest && this.#storedAt <= now + maxClockSkewMs;
    if (isNew() || !this.#store.isConnected) return;
    const stored = await this.#store.find();
    this.#storedAt = stored?.at ?? 0;
    if (isNew()) return;
    const snapshot = await this.#source.readSnapshot();
    await this.#store.put(snapshot, stored?.revision);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
