import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../repository.ts';

const run = promisify(execFile);

/** Returns the directory in `node_modules/.cache` for the unpacked files of a package. */
export function unpackedDirectory(name: string): string {
  return join(repositoryRoot, 'node_modules/.cache', name);
}

/** Returns the first existing path of a program on the PATH or in `others`; undefined if there is none. */
export function findProgram(name: string, others: readonly string[]): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((path) => join(path, name));
  return [...onPath, ...others].find((path) => existsSync(path));
}

/**
 * Returns the path of a program. If it is not installed, the Debian package is unpacked into
 * `node_modules/.cache`.
 *
 * @param path in the package, such as `usr/sbin/nginx`.
 * @param packages of Debian 12: first the program's, then libraries that may be missing on the machine.
 * @throws Error that names the package to install.
 */
export async function provideProgram(path: string, packages?: readonly string[]): Promise<string> {
  const name = packages?.[0] ?? basename(path);
  const find = () => findProgram(basename(path), [`/${path}`, join(unpackedDirectory(name), path)]);
  if (find() === undefined) await unpackDebian(name, packages);
  const found = find();
  if (found !== undefined) return found;
  throw new Error(
    `${basename(path)} is not installed: install it (Debian, Ubuntu: sudo apt-get install ${name})`,
  );
}

/**
 * Unpacks Debian packages into {@link unpackedDirectory}, which needs no privileges.
 * Without `apt-get` it does nothing. If it fails, it leaves no files behind.
 *
 * @param name of the directory.
 * @param packages a program, and libraries that may be missing on the machine.
 */
async function unpackDebian(name: string, packages: readonly string[] = [name]): Promise<void> {
  if (!existsSync('/usr/bin/apt-get')) return;
  const target = unpackedDirectory(name);
  mkdirSync(join(target, '..'), { recursive: true });
  const directory = mkdtempSync(`${target}-`);
  try {
    const options = { cwd: directory };
    try {
      await run('apt-get', ['-q', 'download', ...packages], options);
    } catch {
      await run('apt-get', ['-q', 'update'], options);
      await run('apt-get', ['-q', 'download', ...packages], options);
    }
    for (const archive of readdirSync(directory).filter((file) => file.endsWith('.deb'))) {
      await run('dpkg', ['-x', archive, 'root'], options);
    }
    renameSync(join(directory, 'root'), target);
  } catch {
    // The caller finds no program and throws an error that names the package.
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
