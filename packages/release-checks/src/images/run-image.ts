import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import type { Image } from './build-image.ts';

const stopTimeoutMs = 30_000;

/**
 * Starts a command of an image in the image's folder with its environment, as far as possible without a
 * container engine. Root runs it as the image's user, who cannot write there. The image has no folder for
 * temporary files either.
 *
 * @param options.command default: the image's own.
 * @param options.env overrides the environment of the image.
 * @param options.timeoutMs ends the process after that time; default: never.
 */
export function runImage(
  image: Image,
  options: { command?: readonly string[]; env: Readonly<Record<string, string>>; timeoutMs?: number },
): SupervisedProcess {
  const { command = image.command, env, timeoutMs } = options;
  const [file = '', ...args] = command;
  return startProcess({
    name: command.join(' '),
    file,
    args,
    cwd: join(image.root, image.workdir),
    env: { ...image.env, PATH: pathWithin(image), TMPDIR: join(image.root, 'tmp'), ...env },
    ...(process.getuid?.() === 0 ? userOf(image) : {}),
    stopSignals: [['SIGTERM', stopTimeoutMs]],
    signal: timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs),
  });
}

/**
 * Parses `USER 1000:1000`. @throws Error if it is root or a name, since Kubernetes cannot verify that a name
 * is not root.
 */
export function userOf({ user = '0' }: Image): { uid: number; gid: number } {
  const [, uid, gid] = /^([1-9]\d*):([1-9]\d*)$/.exec(user) ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error(`USER ${user}: must be two numbers other than 0`);
  return { uid: Number(uid), gid: Number(gid) };
}

/** Returns the image's PATH, with its directories replaced by those in the image's folder. */
function pathWithin(image: Image): string {
  const directories = (image.env['PATH'] ?? '').split(':').map((path) => {
    const own = join(image.root, path);
    return existsSync(own) ? own : path;
  });
  return directories.join(':');
}
