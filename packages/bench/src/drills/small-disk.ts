import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own, in memory, which can be filled to the last byte. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  fill(): void;
  /** Gives back what was taken by filling it. */
  free(): void;
}

/** Why there can be none here, if so. */
export function smallDiskImpossible(): string | undefined {
  return process.platform === 'linux' && process.getuid?.() === 0
    ? undefined
    : 'A full disk is tried on a small tmpfs, and only root on Linux may mount one';
}

/** @throws Error where it may not be mounted. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'leads-disk-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'leads', path], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmdirSync(path);
    throw new Error(`A full disk cannot be tried, since no tmpfs can be mounted: ${stderr.trim()}`);
  }
  // The account that Postgres runs as has to get through to its data.
  chmodSync(path, 0o711);
  const ballast = join(path, 'ballast');
  // Lazily: whoever has files open there may be ending still.
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
