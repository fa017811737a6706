import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../repository.ts';

const run = promisify(execFile);

/** Where a package's files are unpacked: beside the modules. */
export function unpackedDirectory(name: string): string {
  return join(repositoryRoot, 'node_modules/.cache', name);
}

/** The first place on the PATH or among others where there is a program; nothing where there is none. */
export function findProgram(name: string, others: readonly string[]): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((path) => join(path, name));
  return [...onPath, ...others].find((path) => existsSync(path));
}

/**
 * The path of a program: one that is installed; else Debian's, unpacked beside the modules.
 *
 * @param path in the package, as `usr/sbin/nginx`.
 * @param packages of Debian 12: the program's, which has its name, and libraries that not every machine has.
 * @throws Error that says what to install.
 */
export async function provideProgram(path: string, packages?: readonly string[]): Promise<string> {
  const name = packages?.[0] ?? basename(path);
  const find = () => findProgram(basename(path), [`/${path}`, join(unpackedDirectory(name), path)]);
  if (find() === undefined) await unpackDebian(name, packages);
  const found = find();
  if (found !== undefined) return found;
  throw new Error(`There is no ${basename(path)}: install it (Debian, Ubuntu: sudo apt-get install ${name})`);
}

/**
 * Unpacks packages of Debian into {@link unpackedDirectory}, which takes no rights. Without `apt-get` nothing happens, and
 * what fails leaves nothing behind.
 *
 * @param name of the directory.
 * @param packages what belongs together there: a program, and libraries that not every machine has.
 */
async function unpackDebian(name: string, packages: readonly string[] = [name]): Promise<void> {
  if (!existsSync('/usr/bin/apt-get')) return;
  const kept = unpackedDirectory(name);
  mkdirSync(join(kept, '..'), { recursive: true });
  const directory = mkdtempSync(`${kept}-`);
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
    renameSync(join(directory, 'root'), kept);
  } catch {
    // Who looks for the program finds out, and says what to install.
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
