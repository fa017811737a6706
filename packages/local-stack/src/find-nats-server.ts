import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from './repository.ts';

const run = promisify(execFile);

const places = ['/usr/sbin/nats-server', '/usr/local/bin/nats-server', '/opt/homebrew/bin/nats-server'];
const kept = join(repositoryRoot, 'node_modules/.cache/nats-server');

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
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((path) => join(path, 'nats-server'));
  return [...onPath, ...places, join(kept, 'usr/sbin/nats-server')].find((path) => existsSync(path));
}

/**
 * The path of a nats-server, for tests and benchmarks: where none is installed Debian's is unpacked beside the modules,
 * which takes no rights.
 *
 * @throws Error that says what to install.
 */
export async function findNatsServer(): Promise<string> {
  const installed = installedNatsServer();
  if (installed !== undefined) return installed;
  if (existsSync('/usr/bin/apt-get')) {
    await unpackDebians().catch(() => undefined);
    const unpacked = installedNatsServer();
    if (unpacked !== undefined) return unpacked;
  }
  throw new Error(`Events are tested with a real broker, and ${natsServerMissing}`);
}

async function unpackDebians(): Promise<void> {
  mkdirSync(join(kept, '..'), { recursive: true });
  const directory = mkdtempSync(`${kept}-`);
  try {
    const options = { cwd: directory };
    try {
      await run('apt-get', ['-q', 'download', 'nats-server'], options);
    } catch {
      await run('apt-get', ['-q', 'update'], options);
      await run('apt-get', ['-q', 'download', 'nats-server'], options);
    }
    const archive = readdirSync(directory).find((name) => name.endsWith('.deb')) ?? '';
    await run('dpkg', ['-x', archive, 'root'], options);
    renameSync(join(directory, 'root'), kept);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
