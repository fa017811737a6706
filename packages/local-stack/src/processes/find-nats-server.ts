import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, provideProgram, unpackedDirectory } from './debian-package.ts';

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
  return installedNatsServer() ?? provideProgram('usr/sbin/nats-server');
}
