import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import type { Image } from './build-image.ts';

const stopTimeoutMs = 30_000;

/**
 * Starts a command of an image in the image's folder with its environment, as far as that goes without an engine. Root
 * gives up its rights for the image's user, who cannot write there; there is no folder for temporary files either.
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
