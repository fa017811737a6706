import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A package in a lock file of npm, by its path, such as `node_modules/pg`. */
interface LockedPackage {
  readonly version?: string;
  /** A package of the repository. `resolved` is its path. */
  readonly link?: boolean;
  readonly resolved?: string;
  readonly optional?: boolean;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * Puts the packages of a lock file in place, as `npm ci` does, as hard links to the same versions of another
 * installation. `npm ci` would unpack 60,000 files.
 *
 * @param options.target the directory of the lock file.
 * @param options.installed the directory of the other installation.
 * @throws Error if the other installation has no such version of a package.
 */
export function linkPackages({ target, installed }: { target: string; installed: string }): void {
  const lock = JSON.parse(readFileSync(join(target, 'package-lock.json'), 'utf8')) as LockFile;
  const present = Object.entries(lock.packages).filter(
    ([path, { link, resolved = '', version, optional }]) => {
      if (!path.includes('node_modules/')) return false;
      if (link === true) {
        mkdirSync(dirname(join(target, path)), { recursive: true });
        symlinkSync(relative(dirname(path), resolved), join(target, path));
        return true;
      }
      const source = join(installed, path);
      // Packages for other platforms are not installed.
      if (optional === true && !existsSync(source)) return false;
      const found = versionOf(source);
      if (found !== version) throw new Error(`${path}: ${version} is locked, but ${found} is installed`);
      linkFiles(source, join(target, path));
      return true;
    },
  );
  // npm reads the hashes of the packages from this file.
  const hidden = { ...lock, packages: Object.fromEntries(present) };
  writeFileSync(join(target, 'node_modules/.package-lock.json'), JSON.stringify(hidden));
}

function versionOf(directory: string): string | undefined {
  const manifest = join(directory, 'package.json');
  if (!existsSync(manifest)) return undefined;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version;
}

/** Links the files of a package without the packages in it, which the lock file lists. */
function linkFiles(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else if (!entry.isDirectory()) linkFile(from, to);
    else if (entry.name !== 'node_modules') linkFiles(from, to);
  }
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // The other installation is on another disk.
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}
