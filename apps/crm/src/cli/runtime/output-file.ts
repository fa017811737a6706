import {
  closeSync,
  constants,
  createWriteStream,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  open,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliError } from './cli-error.ts';

/** A text file that a command writes in pieces. Each piece is in the file when `write` returns. */
export class OutputFile implements Disposable {
  readonly #path: string;
  readonly #descriptor: number;

  /**
   * @param flags `w` replaces the file, `a` appends to it.
   * @throws CliError if the file cannot be opened.
   */
  constructor(path: string, flags: 'w' | 'a', mode?: number) {
    this.#path = path;
    this.#descriptor = attempt(path, () => openSync(path, flags, mode));
  }

  /** @throws CliError if the text cannot be written. A part of it may be in the file. */
  write(text: string): void {
    attempt(this.#path, () => {
      // On a disk that is almost full, a call writes a part of the text. The next call reports why.
      for (let rest = Buffer.from(text); rest.length > 0; ) {
        rest = rest.subarray(writeSync(this.#descriptor, rest));
      }
    });
  }

  /**
   * Writes a text at the end of a regular file, and syncs the file to disk.
   *
   * @throws CliError if the text cannot be written. Then no part of it is in the file.
   */
  append(text: string): void {
    const { size } = attempt(this.#path, () => fstatSync(this.#descriptor));
    try {
      this.write(text);
      attempt(this.#path, () => fsyncSync(this.#descriptor));
    } catch (error) {
      ftruncateSync(this.#descriptor, size);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/**
 * Writes a stream to a file. The file appears under its name when it is complete. A failure leaves no file behind. Writes
 * directly to a device, a pipe or an open descriptor, because a rename would replace it by a file.
 *
 * @throws CliError if the file cannot be written. Errors of the source are thrown unchanged.
 */
export async function writeCompleteFile(path: string, source: Readable, signal: AbortSignal): Promise<void> {
  if (!isReplaceable(path)) {
    signal.throwIfAborted();
    // The open of a pipe ignores the signal, and waits until a process opens the pipe to read. This process then does so,
    // without waiting for a writer. It keeps the pipe open, because the other open may begin later.
    const openAsReader = () => open(path, constants.O_RDONLY | constants.O_NONBLOCK, () => undefined);
    signal.addEventListener('abort', openAsReader, { once: true });
    await pipeline(source, createWriteStream(path), { signal }).catch((error: unknown) => {
      throw asWriteError(path, error);
    });
    return;
  }
  const part = `${path}.part`;
  try {
    await pipeline(source, createWriteStream(part), { signal });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw asWriteError(path, error);
  }
}

/** Returns whether the path is a regular file, or does not exist yet. @throws CliError if it cannot be read. */
function isReplaceable(path: string): boolean {
  // These are links to open descriptors, which can be regular files.
  if (/^\/(?:dev\/(?:fd\/|std)|proc\/)/.test(path)) return false;
  return attempt(path, () => statSync(path, { throwIfNoEntry: false })?.isFile() ?? true);
}

function attempt<Result>(path: string, operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    throw asWriteError(path, error);
  }
}

/** Wraps an error of a system call in a CliError; returns any other error unchanged. */
function asWriteError(path: string, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).syscall === undefined) return error;
  return new CliError(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
}
