import { withTimeout } from '@leads/core/with-timeout';

/** The pause between two reads of the buffer, in milliseconds. Other processes use the same buffer. */
const readMs = 1_000;
/** How long a request waits for a read, in milliseconds. After it, the last known values are used. */
const readTimeoutMs = 250;

/**
 * Shares the room of the buffer between workspaces. A workspace may buffer leads while it has buffered fewer bytes than
 * there is room for (dynamic thresholds, as in FairBacklog). So one workspace gets at most half of the room, and leaves
 * room for others. Each process counts its own leads. The only workspace of a deployment gets the whole room.
 */
export class BufferShares {
  readonly #readRoom: () => Promise<number>;
  readonly #findOnlyWorkspace: () => Promise<string | undefined>;
  readonly #bytes = new Map<string, number>();
  #room = Number.POSITIVE_INFINITY;
  #onlyWorkspaceId: string | undefined;
  #reading: Promise<unknown> = Promise.resolve();
  #nextReadAt = 0;

  /**
   * @param readRoom returns the bytes that the buffer has room for.
   * @param findOnlyWorkspace returns the id of the workspace that has all API keys of the deployment, if there is one.
   */
  constructor(readRoom: () => Promise<number>, findOnlyWorkspace: () => Promise<string | undefined>) {
    this.#readRoom = readRoom;
    this.#findOnlyWorkspace = findOnlyWorkspace;
  }

  /** Reads the buffer if the last read is some time ago. A failure is ignored, because a full buffer rejects leads itself. */
  async refresh(): Promise<void> {
    if (performance.now() >= this.#nextReadAt) {
      this.#nextReadAt = performance.now() + readMs;
      this.#reading = Promise.all([this.#readRoom(), this.#findOnlyWorkspace()]).then(
        ([room, onlyWorkspaceId]) => {
          this.#room = room;
          this.#onlyWorkspaceId = onlyWorkspaceId;
        },
        () => undefined,
      );
    }
    await withTimeout(readTimeoutMs, this.#reading);
  }

  /** Whether a workspace may buffer a lead. */
  hasRoom(workspaceId: string): boolean {
    // A key of another workspace may be newer than the read.
    const hasOthers = this.#bytes.size > (this.#bytes.has(workspaceId) ? 1 : 0);
    const isAlone = workspaceId === this.#onlyWorkspaceId && !hasOthers;
    return isAlone || (this.#bytes.get(workspaceId) ?? 0) < this.#room;
  }

  /** Counts a buffered lead. */
  add(workspaceId: string, bytes: number): void {
    this.#bytes.set(workspaceId, (this.#bytes.get(workspaceId) ?? 0) + bytes);
    this.#room -= bytes;
  }

  /** Starts again to count, after an outage. */
  clear(): void {
    this.#bytes.clear();
  }
}
