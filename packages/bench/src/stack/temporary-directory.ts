import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const removal = { recursive: true, force: true, maxRetries: 15 };

/**
 * Creates a directory that is removed on disposal, and at the exit of this process.
 *
 * @param parent default: the system's temporary directory.
 */
export function temporaryDirectory(parent: string | undefined): AsyncDisposable & { readonly path: string } {
  if (parent !== undefined) mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(resolve(parent ?? tmpdir()), 'leads-bench-'));
  allowTraversal(path);
  const removeNow = () => rmSync(path, removal);
  process.once('exit', removeNow);
  return {
    path,
    async [Symbol.asyncDispose]() {
      // The processes of a killed Postgres still write for a short time, so the removal is retried.
      await rm(path, removal);
      process.off('exit', removeNow);
    },
  };
}

/** Permits the account of Postgres to enter the directory, which contains its data directory. */
export function allowTraversal(directory: string): void {
  chmodSync(directory, 0o711);
}
