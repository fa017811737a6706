import { mkdirSync, statSync } from 'node:fs';
import { foreignOwner } from './processes/user-accounts.ts';

/**
 * Makes the directory of a local run. Root's can be entered by others, since Postgres runs as one of them; the
 * files in it are all their owner's only.
 *
 * @throws Error when it is there but another user's.
 */
export function makeDataDirectory(path: string): void {
  const caller = process.getuid?.();
  mkdirSync(path, { recursive: true, mode: caller === 0 ? 0o711 : 0o700 });
  const owner = statSync(path).uid;
  if (caller !== undefined && caller !== 0 && caller !== owner) {
    throw new Error(foreignOwner(path, owner, caller));
  }
}
