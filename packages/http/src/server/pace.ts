/** The pace at which a client must send or read. */
export interface PaceOptions {
  /** The longest wait for a client that sends or reads nothing, in milliseconds. */
  readonly idleMs?: number;
  /** The minimum average rate, after a grace period of `idleMs`. */
  readonly bytesPerSecond?: number;
}

/** Measures the pace of a client. Only the time counts in which the service waits for the client. */
export class Pace {
  readonly #idleMs: number;
  readonly #bytesPerSecond: number;
  #bytes = 0;
  #waitedMs = 0;

  constructor({ idleMs = 30_000, bytesPerSecond = 1024 }: PaceOptions = {}) {
    this.#idleMs = idleMs;
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Counts bytes that the client has sent, or that it is given to read. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Counts the time of a wait for the client, in milliseconds. */
  wait(ms: number): void {
    this.#waitedMs += ms;
  }

  /** The time until the average rate is too low, in milliseconds. */
  get averageLeftMs(): number {
    return Math.max(0, this.#idleMs + (this.#bytes / this.#bytesPerSecond) * 1000 - this.#waitedMs);
  }

  /** The time until the client has been idle for too long, or the average rate is too low, in milliseconds. */
  get leftMs(): number {
    return Math.min(this.#idleMs, this.averageLeftMs);
  }
}

/**
 * Yields texts to a client that must read them at a minimum average rate.
 *
 * @param onSlow called once if the client reads too slowly. It must end the connection.
 */
export async function* atPace(
  texts: AsyncIterable<string>,
  pace: Pace,
  onSlow: () => void,
): AsyncGenerator<string, void, undefined> {
  let isSlow = false;
  for await (const text of texts) {
    pace.count(Buffer.byteLength(text));
    const timer = setTimeout(() => {
      isSlow = true;
      onSlow();
    }, pace.averageLeftMs);
    const since = performance.now();
    try {
      yield text;
    } finally {
      clearTimeout(timer);
      pace.wait(performance.now() - since);
    }
    if (isSlow) return;
  }
}
