import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a file that only its owner can read. The write is atomic. */
export function writePrivateFile(path: string, text: string): void {
  const staging = `${path}.${process.pid}`;
  try {
    writeFileSync(staging, text, { mode: 0o600, flush: true });
    renameSync(staging, path);
  } catch (error) {
    rmSync(staging, { force: true });
    throw error;
  }
}

/** Reads a file. Returns undefined if it does not exist. */
export function readFileIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
