import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeForeignOwner } from './processes/user-accounts.ts';

/**
 * Creates the data directory of a local run. A directory of root is open to other users, because Postgres
 * runs as one of them. The files in it are readable by their owner only.
 *
 * @throws Error if the directory exists and belongs to another user.
 */
export function makeDataDirectory(path: string): void {
  const caller = process.getuid?.();
  makeDirectories(path, caller === 0 ? 0o711 : 0o700);
  const owner = statSync(path).uid;
  if (caller !== undefined && caller !== 0 && caller !== owner) {
    throw new Error(describeForeignOwner(path, owner, caller));
  }
}

/** Creates a directory and its parents. The option `recursive` of mkdirSync never returns in `/proc`. */
function makeDirectories(path: string, mode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  makeDirectories(dirname(path), mode);
  mkdirSync(path, { mode });
}
