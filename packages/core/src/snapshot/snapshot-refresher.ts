import { BackgroundLoop } from '../background/background-loop.ts';
import type { SnapshotSource, SnapshotStore } from './intake-snapshot.ts';

/** The age at which a snapshot is replaced, in milliseconds. */
const maxAgeMs = 15_000;
/** The pause between two checks of the age. It is random so that instances check at different times. */
const checkIntervalMs = () => 500 + Math.random() * 1_000;
const retryMs = 5_000;

/**
 * Keeps the stored snapshot a few seconds old while the database and the broker are available. Of several instances,
 * the first that finds the snapshot too old replaces it.
 */
export class SnapshotRefresher implements AsyncDisposable {
  readonly #source: SnapshotSource;
  readonly #store: Omit<SnapshotStore, 'get'>;
  readonly #loop: BackgroundLoop;
  #revision: number | undefined;
  /** When the stored snapshot was begun, and when the newest change was noted, by `performance.now()`. */
  #begunMs = Number.NEGATIVE_INFINITY;
  #changedMs = Number.NEGATIVE_INFINITY;

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
    this.#changedMs = performance.now();
  }

  async #refresh(): Promise<void> {
    const oldestMs = Math.max(performance.now() - maxAgeMs, this.#changedMs);
    if (this.#begunMs > oldestMs || !this.#store.isConnected) return;
    const stored = await this.#store.find();
    this.#note(stored);
    if (this.#begunMs > oldestMs) return;
    const snapshot = await this.#source.readSnapshot();
    await this.#store.put(snapshot, stored?.revision);
  }

  /**
   * Notes when the stored snapshot was begun. If the clock of its instance is ahead, that is when this instance first finds
   * it. Otherwise two instances with different clocks would replace each other's snapshots at every check.
   */
  #note(stored: Awaited<ReturnType<SnapshotStore['find']>>): void {
    if (stored !== undefined && stored.revision === this.#revision) return;
    this.#revision = stored?.revision;
    // Rounded up, because a snapshot that was begun just before a change must not count as newer.
    const ageMs = Date.now() + 1 - (stored?.at ?? 0);
    this.#begunMs = performance.now() - Math.max(0, ageMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
