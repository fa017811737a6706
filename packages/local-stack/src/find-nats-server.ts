import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, unpackDebian, unpackedDirectory } from './debian-package.ts';

/** What to do where there is none. */
export const natsServerMissing =
  'there is no nats-server: install it (Debian, Ubuntu: sudo apt-get install nats-server; macOS: brew install nats-server; else the release of nats.io), or name one by NATS_SERVER_PATH';

/**
 * The path of a nats-server: that of NATS_SERVER_PATH, else one on the PATH; nothing where there is none.
 *
 * @throws Error where NATS_SERVER_PATH names nothing.
 */
export function installedNatsServer(): string | undefined {
  const named = process.env['NATS_SERVER_PATH'];
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`NATS_SERVER_PATH names a file that is not there: ${named}`);
  }
  return findProgram('nats-server', [
    '/usr/sbin/nats-server',
    '/usr/local/bin/nats-server',
    '/opt/homebrew/bin/nats-server',
    join(unpackedDirectory('nats-server'), 'usr/sbin/nats-server'),
  ]);
}

/**
 * The path of a nats-server, for tests and benchmarks: where none is installed Debian's is unpacked.
 *
 * @throws Error that says what to install.
 */
export async function findNatsServer(): Promise<string> {
  const installed = installedNatsServer();
  if (installed !== undefined) return installed;
  await unpackDebian('nats-server');
  const unpacked = installedNatsServer();
  if (unpacked !== undefined) return unpacked;
  throw new Error(`Events are tested with a real broker, and ${natsServerMissing}`);
}
