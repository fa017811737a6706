import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, provideProgram, unpackedDirectory } from './debian-package.ts';

/**
 * Returns the path of a nats-server: NATS_SERVER_PATH, else one on the PATH; undefined if there is none.
 *
 * @throws Error if the file of NATS_SERVER_PATH does not exist.
 */
export function installedNatsServer(): string | undefined {
  const named = process.env['NATS_SERVER_PATH'];
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`NATS_SERVER_PATH names a file that does not exist: ${named}`);
  }
  return findProgram('nats-server', [
    '/usr/sbin/nats-server',
    '/usr/local/bin/nats-server',
    '/opt/homebrew/bin/nats-server',
    join(unpackedDirectory('nats-server'), 'usr/sbin/nats-server'),
  ]);
}

/**
 * Returns the path of a nats-server, for tests and benchmarks. If none is installed, the Debian package is
 * unpacked.
 *
 * @throws Error that names the package to install.
 */
export async function findNatsServer(): Promise<string> {
  return installedNatsServer() ?? provideProgram('usr/sbin/nats-server');
}
