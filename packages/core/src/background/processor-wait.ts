/** Readings of this process since its start, in milliseconds. */
export interface ProcessReadings {
  readonly atMs: number;
  /** The time in which the event loop did not wait for events. */
  readonly busyMs: number;
  /** The processor time of all threads. */
  readonly processorMs: number;
}

/** The time in which a reading loses half of its weight, in milliseconds. */
const halfLifeMs = 1_000;

/**
 * Measures whether the machine has a processor for this process. An event loop that is busy without processor time waits for
 * a processor, because other processes use them, or because the process has reached a limit. Its own work does not count,
 * unlike in a delay of the event loop.
 */
export class ProcessorWait {
  readonly #read: () => ProcessReadings;
  #last: ProcessReadings;
  #busyMs = 0;
  #waitMs = 0;

  /** @param read replaces the readings of this process in tests. */
  constructor(read = readProcess) {
    this.#read = read;
    this.#last = read();
  }

  /** Returns the share of the newest busy time without a processor: 0 while a processor is free, less than 1. */
  share(): number {
    const now = this.#read();
    const busyMs = now.busyMs - this.#last.busyMs;
    const waitMs = Math.max(0, busyMs - (now.processorMs - this.#last.processorMs));
    const kept = 0.5 ** ((now.atMs - this.#last.atMs) / halfLifeMs);
    this.#busyMs = this.#busyMs * kept + busyMs;
    this.#waitMs = this.#waitMs * kept + waitMs;
    this.#last = now;
    return this.#busyMs === 0 ? 0 : this.#waitMs / this.#busyMs;
  }
}

/** Returns the readings of this process. */
export function readProcess(): ProcessReadings {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    busyMs: performance.eventLoopUtilization().active,
    processorMs: (user + system) / 1_000,
  };
}
