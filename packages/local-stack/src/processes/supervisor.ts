import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import { type StopSignals, signalProcess } from './process-identity.ts';

/** A program and how to spawn it. */
export interface Command extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid' | 'shell'> {
  readonly file: string;
  readonly args: readonly string[];
}

export interface ProcessOptions extends Command {
  /** Names the process in error messages. */
  readonly name: string;
  /** Default: no stdin; stdout and stderr are kept for `output`. */
  readonly stdio?: SpawnOptions['stdio'] | undefined;
  /** A file to append stdout and stderr to, of mode 0600. It is emptied first if it has more than 16 MiB. */
  readonly logFile?: string | undefined;
  /** Called with the output of the process on stdout and stderr. */
  readonly onOutput?: ((text: string) => void) | undefined;
  /**
   * The signals that `stop` sends, each with the time to wait for the end; SIGKILL follows. Default: SIGTERM,
   * 10 s.
   */
  readonly stopSignals?: StopSignals | undefined;
  /**
   * Sends the stop signals to the whole process group: for programs that do not forward signals, such as npm.
   */
  readonly stopsGroup?: boolean | undefined;
  /** Stops the process. */
  readonly signal?: AbortSignal | undefined;
}

/** The exit of a process. Both are null if the program could not be spawned. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that ended, or was stopped, before it was ready. */
export class ProcessStartError extends Error {
  override readonly name = 'ProcessStartError';
  /** The output of the process. */
  readonly output: string;

  constructor(message: string, output: string) {
    super(message);
    this.output = output;
  }
}

const maxOutputLength = 4 * 1024 * 1024;
const maxLogBytes = 16 * 1024 * 1024;
const pollIntervalMs = 25;

const running = new Set<SupervisedProcess>();
// This does not run if a signal kills this process. On Linux, `findLauncher` covers that case.
process.once('exit', () => {
  for (const each of running) each.signal();
});

/**
 * Spawns a process that ends with this one at the latest. A program that cannot be spawned counts as a
 * process that has ended; its output is the reason.
 *
 * ```ts
 * await using server = startProcess({ name: 'nats-server', file: '/usr/sbin/nats-server', args: ['-p', '4222'] });
 * await server.waitUntilReady(() => acceptsConnections(4222), 15_000);
 * ```
 *
 * For a Node.js program that exchanges messages with this process, set `file` to `process.execPath` and the
 * fourth entry of `stdio` to `'ipc'`. The messages go through `child`.
 */
export function startProcess(options: ProcessOptions): SupervisedProcess {
  return new SupervisedProcess(options);
}

/** A child process in its own process group, so a terminal's Ctrl-C reaches only this process. */
export class SupervisedProcess implements AsyncDisposable {
  readonly #options: ProcessOptions;
  readonly #written = { stdout: '', stderr: '', both: '' };
  readonly #readLog: (() => string) | undefined;
  #isRunning: boolean;
  #stopped: Promise<void> | undefined;
  /** The child process, for messages between processes and streams of other kinds. */
  readonly child: ChildProcess;
  /** 0 if the program could not be spawned. */
  readonly pid: number;
  /** Settles when the process has ended and all of its output has arrived. Never rejects. */
  readonly exited: Promise<ProcessExit>;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const { file, args, cwd, env, uid, gid, shell, signal } = options;
    const log = options.logFile === undefined ? undefined : openLog(options.logFile);
    this.#readLog = log?.read;
    this.child = spawn(file, args, {
      cwd,
      env,
      uid,
      gid,
      shell,
      detached: true,
      stdio: log === undefined ? (options.stdio ?? ['ignore', 'pipe', 'pipe']) : ['ignore', log.fd, log.fd],
    });
    if (log !== undefined) closeSync(log.fd);
    this.#isRunning = this.child.pid !== undefined;
    this.pid = this.child.pid ?? 0;
    for (const name of ['stdout', 'stderr'] as const) {
      this.child[name]?.setEncoding('utf8').on('data', (text: string) => this.#keep(name, text));
    }

    running.add(this);
    const stop = () => void this.stop();
    this.exited = new Promise<ProcessExit>((resolve) => {
      this.child.once('error', (error) => {
        this.#keep('stderr', error.message);
        resolve({ code: null, signal: null });
      });
      // Not 'exit', because output may still arrive after that event.
      this.child.once('close', (code, received) => resolve({ code, signal: received }));
    }).then((exit) => {
      this.#isRunning = false;
      running.delete(this);
      signal?.removeEventListener('abort', stop);
      return exit;
    });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  }

  /** False once `exited` has settled. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Returns the output of the process on a stream, or on both: the last 4 Mi characters at most. */
  output(stream: 'stdout' | 'stderr' | 'both' = 'both'): string {
    return this.#readLog === undefined ? this.#written[stream] : this.#readLog() + this.#written[stream];
  }

  /**
   * Polls a condition until it holds.
   *
   * @throws ProcessStartError with the last 10 lines of output if the process ends first or on a timeout. The
   * process has then ended.
   */
  async waitUntilReady(isReady: () => boolean | Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!((await isReady()) && this.#isRunning)) {
      if (this.#isRunning && Date.now() < deadline) {
        await Promise.race([this.exited, sleep(pollIntervalMs)]);
        continue;
      }
      const problem = this.#isRunning ? 'does not become ready' : 'does not start';
      await this.stop();
      const output = this.output();
      const lastLines = output.trimEnd().split('\n').slice(-10).join('\n');
      throw new ProcessStartError(`${this.#options.name} ${problem}: ${lastLines}`, output);
    }
  }

  /** Sends a signal, by default the first stop signal. Does nothing if the process has ended. */
  signal(name = this.#stopSignals[0]?.[0]): void {
    if (name === undefined) this.#signalGroup('SIGKILL');
    else if (this.#options.stopsGroup === true) this.#signalGroup(name);
    // After the process was reaped, its pid may belong to another process.
    else if (this.child.exitCode === null && this.child.signalCode === null) this.#send(this.pid, name);
  }

  /**
   * Sends the stop signals, and SIGKILL to the process group if they do not end the process in time. A second call waits
   * for the first, because a service ends at once on a second signal.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#sendStopSignals();
    return this.#stopped;
  }

  async #sendStopSignals(): Promise<void> {
    for (const [name, timeoutMs] of this.#stopSignals) {
      this.signal(name);
      if ((await withTimeout(timeoutMs, this.exited)) !== timedOut) return;
    }
    await this.kill();
  }

  /** Sends SIGKILL to the process group. */
  async kill(): Promise<void> {
    this.#signalGroup('SIGKILL');
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #stopSignals(): StopSignals {
    return this.#options.stopSignals ?? [['SIGTERM', 10_000]];
  }

  #signalGroup(name: NodeJS.Signals): void {
    // Windows has no process groups.
    this.#send(process.platform === 'win32' ? this.pid : -this.pid, name);
  }

  #send(pid: number, name: NodeJS.Signals): void {
    if (this.#isRunning && pid !== 0) signalProcess(pid, name);
  }

  #keep(stream: 'stdout' | 'stderr', text: string): void {
    for (const each of [stream, 'both'] as const) {
      this.#written[each] = (this.#written[each] + text).slice(-maxOutputLength);
    }
    this.#options.onOutput?.(text);
  }
}

/** Opens a log to append to. `read` returns the text written since then. */
function openLog(file: string): { fd: number; read: () => string } {
  const fd = openSync(file, 'a', 0o600);
  if (fstatSync(fd).size > maxLogBytes) ftruncateSync(fd);
  const start = fstatSync(fd).size;
  return { fd, read: () => readFileSync(file).subarray(start).toString() };
}
