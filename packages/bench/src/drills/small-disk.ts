import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allowTraversal } from '../stack/temporary-directory.ts';

/** A small in-memory file system that can be filled completely. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  fill(): void;
  /** Removes the data of {@link fill}. */
  free(): void;
}

/** Returns the reason if no small disk can be mounted on this machine. */
export function smallDiskObstacle(): string | undefined {
  return process.platform === 'linux' && process.getuid?.() === 0
    ? undefined
    : 'A full disk needs a small tmpfs, which only root on Linux may mount';
}

/** Mounts a small disk. @throws Error if it cannot be mounted. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'leads-disk-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'leads', path], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmdirSync(path);
    throw new Error(`Cannot mount a tmpfs: ${stderr.trim()}`);
  }
  allowTraversal(path);
  const ballast = join(path, 'ballast');
  // Lazy, since processes with open files on the disk may still be ending.
  const unmount = () => {
    spawnSync('umount', ['--lazy', path]);
    rmdirSync(path);
  };
  process.once('exit', unmount);
  return {
    path,
    fill: () => fill(ballast),
    free: () => rmSync(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      unmount();
      process.off('exit', unmount);
    },
  };
}

function fill(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    for (const size of [1024 * 1024, 4096, 1]) {
      const bytes = Buffer.alloc(size);
      try {
        for (;;) writeSync(descriptor, bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
