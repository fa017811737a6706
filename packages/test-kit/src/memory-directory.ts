import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

/** The free space that a test run needs for its temporary files, with a reserve, in bytes. */
const runBytes = 8 * 2 ** 30;

export interface MemoryDirectory extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates a directory for temporary files in memory. The databases of a test run have a hundred thousand files, whose
 * creation on a disk takes a third of the processor time of Postgres. Disposing removes it.
 *
 * @param parent a file system in memory.
 * @param neededBytes the least free space, and the least free memory.
 * @returns undefined if the system has no such file system, not enough memory, or does not execute files in it.
 */
export function createMemoryDirectory(
  parent = '/dev/shm',
  neededBytes = runBytes,
): MemoryDirectory | undefined {
  let path: string;
  try {
    const { bavail, bsize } = statfsSync(parent);
    if (Math.min(bavail * bsize, freemem()) < neededBytes) return undefined;
    path = mkdtempSync(join(parent, 'leads-test-'));
  } catch {
    return undefined;
  }
  // Processes of other accounts use it, such as Postgres.
  chmodSync(path, 0o1777);
  const remove = () => rmSync(path, { recursive: true, force: true });
  const script = join(path, 'script');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
  if (spawnSync(script).status !== 0) {
    remove();
    return undefined;
  }
  rmSync(script);
  return { path, [Symbol.asyncDispose]: async () => remove() };
}
