import { setTimeout as sleep } from 'node:timers/promises';
import { signalTree } from '../process-tree.ts';

/** A process that is there now. */
interface Running extends AsyncDisposable {
  readonly pid: number;
  readonly exited: Promise<unknown>;
}

/** A part of the stack that dies and comes back, at the same address and with the same data. */
export class Part<Process extends Running> implements AsyncDisposable {
  readonly #start: () => Promise<Process>;
  #process: Process | undefined;
  #starting: Promise<Process> | undefined;
  #isFrozen = false;
  #isOver = false;

  /** @param start starts it, and waits until it can be used. */
  constructor(start: () => Promise<Process>) {
    this.#start = start;
  }

  /** @throws Error where it is not there. */
  get process(): Process {
    if (this.#process === undefined) throw new Error('It is not there');
    return this.#process;
  }

  get isThere(): boolean {
    return this.#process !== undefined;
  }

  /**
   * @returns how long it took until it could be used, in milliseconds.
   * @throws Error once it is disposed of: whoever was breaking it may not have heard.
   */
  async start(): Promise<number> {
    if (this.#isOver) throw new Error('It is not to be started any more');
    const startedAt = performance.now();
    if (this.#process === undefined) {
      this.#starting ??= this.#start();
      try {
        this.#process = await this.#starting;
      } finally {
        this.#starting = undefined;
      }
    }
    return performance.now() - startedAt;
  }

  /** SIGKILL, and waits for its end. */
  async kill(): Promise<void> {
    const { pid, exited } = this.process;
    this.#process = undefined;
    process.kill(pid, 'SIGKILL');
    await exited;
  }

  /**
   * SIGTERM, and waits for its end.
   *
   * @returns how long that took, in milliseconds.
   */
  async stop(): Promise<number> {
    const startedAt = performance.now();
    const { pid, exited } = this.process;
    this.#process = undefined;
    process.kill(pid, 'SIGTERM');
    await exited;
    return performance.now() - startedAt;
  }

  /** It stops where it is, with all of its processes, and holds its connections. */
  freeze(): void {
    this.#isFrozen = true;
    signalTree(this.process.pid, 'SIGSTOP');
  }

  thaw(): void {
    this.#isFrozen = false;
    signalTree(this.process.pid, 'SIGCONT');
  }

  /** Says that it has ended by itself, if it has. */
  async hasEnded(): Promise<boolean> {
    const { exited } = this.process;
    const ended = await Promise.race([exited.then(() => true), sleep(0, false)]);
    if (ended) this.#process = undefined;
    return ended;
  }

  /** Ends it, also where it is just being started. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    if (this.#isFrozen) this.thaw();
    const started = await this.#starting?.catch(() => undefined);
    await (started ?? this.#process)?.[Symbol.asyncDispose]();
  }
}
