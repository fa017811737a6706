import { setTimeout as sleep } from 'node:timers/promises';
import { signalTree } from '../process-tree.ts';

interface RunningProcess extends AsyncDisposable {
  readonly pid: number;
  readonly exited: Promise<unknown>;
}

/** A process that can be stopped or killed, and started again with the same address and data. */
export class Restartable<Process extends RunningProcess> implements AsyncDisposable {
  readonly #start: () => Promise<Process>;
  #process: Process | undefined;
  #starting: Promise<Process> | undefined;
  #isPaused = false;
  #isDisposed = false;

  /** @param start starts the process and waits until it is ready. */
  constructor(start: () => Promise<Process>) {
    this.#start = start;
  }

  /** Returns the running process. @throws Error if it does not run. */
  get process(): Process {
    if (this.#process === undefined) throw new Error('The process does not run');
    return this.#process;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /**
   * Starts the process, unless it runs.
   *
   * @returns the time until the process was ready, in milliseconds.
   * @throws Error after disposal, since a scenario may continue after the drill was stopped.
   */
  async start(): Promise<number> {
    if (this.#isDisposed) throw new Error('The process was disposed');
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

  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<number> {
    return this.#end('SIGKILL');
  }

  /** Sends SIGTERM and waits for the end. @returns the duration in milliseconds. */
  stop(): Promise<number> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number> {
    const startedAt = performance.now();
    const { pid, exited } = this.process;
    this.#process = undefined;
    process.kill(pid, signal);
    await exited;
    return performance.now() - startedAt;
  }

  /** Sends SIGSTOP to the process and its descendants, which keep their connections. */
  pause(): void {
    this.#isPaused = true;
    signalTree(this.process.pid, 'SIGSTOP');
  }

  resume(): void {
    this.#isPaused = false;
    signalTree(this.process.pid, 'SIGCONT');
  }

  /** Returns whether the process has ended by itself. It can then be started again. */
  async hasEnded(): Promise<boolean> {
    const { exited } = this.process;
    const ended = await Promise.race([exited.then(() => true), sleep(0, false)]);
    if (ended) this.#process = undefined;
    return ended;
  }

  /** Ends the process, even while it starts. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    if (this.#isPaused) this.resume();
    const started = await this.#starting?.catch(() => undefined);
    await (started ?? this.#process)?.[Symbol.asyncDispose]();
  }
}
