import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { signalProcess } from '@leads/local-stack/processes/process-identity';
import type { Image } from './build-image.ts';

/** A process that runs as one in a container of the image would, as far as that goes without an engine. */
export interface ImageProcess {
  /** Settles when it has ended: its exit code, or nothing where a signal ended it. */
  readonly exited: Promise<number | undefined>;
  /** What it has written to stdout so far. */
  printed(): string;
  /** The same with what it has written to stderr. */
  output(): string;
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts a command of an image in its folder, with its environment. Root gives itself up for the image's user, who can
 * write nothing there; there is no folder for temporary files either.
 *
 * @param options.command default: the image's own.
 * @param options.env is put over that of the image.
 */
export function runImage(
  image: Image,
  options: { command?: readonly string[]; env: Readonly<Record<string, string>> },
): ImageProcess {
  const [program = '', ...args] = options.command ?? image.command;
  const child = spawn(program, args, {
    cwd: join(image.root, image.workdir),
    env: { ...image.env, PATH: pathWithin(image), TMPDIR: join(image.root, 'tmp'), ...options.env },
    ...(process.getuid?.() === 0 ? userOf(image) : {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      signalProcess(child.pid, name);
    }
  };
  const endWithOwner = () => signal('SIGKILL');
  process.once('exit', endWithOwner);
  const exited = once(child, 'close').then(
    ([code]) => {
      process.off('exit', endWithOwner);
      return (code as number | null) ?? undefined;
    },
    (error: Error) => {
      output += error.message;
      return undefined;
    },
  );
  return { exited, printed: () => printed, output: () => output, signal };
}

/** `USER 1000:1000`. @throws Error where it is root, or not by number, which Kubernetes could not tell from root. */
export function userOf({ user = '0' }: Image): { uid: number; gid: number } {
  const [, uid, gid] = /^([1-9]\d*):([1-9]\d*)$/.exec(user) ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error(`USER ${user}: two numbers other than 0 are wanted`);
  return { uid: Number(uid), gid: Number(gid) };
}

/** The image's PATH, where its own folders are those that stand for them here. */
function pathWithin(image: Image): string {
  const directories = (image.env['PATH'] ?? '').split(':').map((path) => {
    const own = join(image.root, path);
    return existsSync(own) ? own : path;
  });
  return directories.join(':');
}
