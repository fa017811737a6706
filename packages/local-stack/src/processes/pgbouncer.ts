import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { provideProgram, unpackedDirectory } from './debian-package.ts';
import { freePort } from './free-port.ts';
import { startProcess } from './supervisor.ts';
import { findLauncher } from './unprivileged-launcher.ts';

/** A PgBouncer in transaction mode that listens on 127.0.0.1. */
export interface LocalPgBouncer extends AsyncDisposable {
  /** Converts a direct connection string to one through PgBouncer. */
  url(direct: string): string;
}

/** It only ends starts that hang, also on a busy machine. */
const readyTimeoutMs = 120_000;

/**
 * Packages of Debian 12, unpacked if the program is not installed. The libraries may be missing on the
 * machine.
 */
const packages = ['pgbouncer', 'libevent-2.1-7', 'libc-ares2'];
const unpacked = unpackedDirectory('pgbouncer');

/**
 * Returns the path of PgBouncer.
 *
 * @throws Error that names the package to install.
 */
export const findPgBouncer = (): Promise<string> => provideProgram('usr/sbin/pgbouncer', packages);

/** Returns the directories of the unpacked libraries, separated by colons. */
function libraries(): string {
  const directory = join(unpacked, 'usr/lib');
  if (!existsSync(directory)) return '';
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .join(':');
}

/**
 * Starts a PgBouncer in front of a Postgres, configured as the README describes, and waits until every user
 * can connect.
 *
 * @param urls the direct connection strings of the permitted users, all of the same server.
 * @param poolSize the number of connections to Postgres for each user. It is less than the number of client
 * connections, so clients share them.
 * @throws ProcessStartError with the output of PgBouncer if it does not start.
 */
export async function startPgBouncer(urls: readonly string[], poolSize = 3): Promise<LocalPgBouncer> {
  const binary = await findPgBouncer();
  // PgBouncer refuses to run as root.
  const launcher = findLauncher(binary, { LD_LIBRARY_PATH: libraries() });
  const directory = mkdtempSync(join(tmpdir(), 'leads-pgbouncer-'));
  chmodSync(directory, 0o711);
  const port = await freePort();
  const users = urls.map((url) => new URL(url));
  const file = (name: string) => join(directory, name);
  writeFileSync(
    file('users.txt'),
    users.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`).join(''),
    { mode: 0o644 },
  );
  writeFileSync(
    file('pgbouncer.ini'),
    `[databases]
* = host=127.0.0.1 port=${users[0]?.port ?? ''}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${file('users.txt')}
pool_mode = transaction
default_pool_size = ${poolSize}
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout
`,
    { mode: 0o644 },
  );
  const pooler = startProcess({ name: 'pgbouncer', ...launcher.command(binary, [file('pgbouncer.ini')]) });
  const url = (direct: string) => {
    const through = new URL(direct);
    through.port = String(port);
    return through.href;
  };

  const remove = () => rmSync(directory, { recursive: true, force: true });
  const isReady = async () => {
    for (const direct of urls) if (!(await letsThrough(url(direct)))) return false;
    return true;
  };
  try {
    await pooler.waitUntilReady(isReady, readyTimeoutMs);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      await pooler.kill();
      remove();
    },
  };
}

async function letsThrough(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
