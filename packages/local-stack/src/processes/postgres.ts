import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { ensureCluster } from './postgres-cluster.ts';
import { postgresFailure } from './postgres-failure.ts';
import { type LocalPostgres, runServer } from './postgres-server.ts';
import { clearPostmasterPid } from './postmaster-pid.ts';
import { ProcessStartError } from './supervisor.ts';
import { findLauncher, type Launcher } from './unprivileged-launcher.ts';

export type { LocalPostgres } from './postgres-server.ts';

/**
 * Starts a Postgres server on 127.0.0.1 and waits until it accepts queries. If the caller is root, the server
 * runs as `postgres` or `nobody`.
 *
 * @param options.dataDir created if it does not exist; `<dataDir>.password` and `<dataDir>.log` are created
 * beside it.
 * @param options.port default: a free one.
 * @param options.durable false is for temporary data: the last commits are lost if the server is killed, not
 * only in a power failure. Default true.
 * @param options.maxConnections default: 200.
 * @param options.onNotice called with one line for each action taken after a killed run.
 * @throws Error with a one-line reason if the server does not start.
 */
export async function startPostgres(options: {
  dataDir: string;
  port?: number | undefined;
  durable?: boolean;
  maxConnections?: number;
  onNotice?: ((line: string) => void) | undefined;
}): Promise<LocalPostgres> {
  const dataDir = resolve(options.dataDir);
  const { durable = true, maxConnections = 200 } = options;
  try {
    const binaries = await postgresBinaries();
    const launcher = launcherOf(binaries.postgres);
    const password = await ensureCluster({ dataDir, durable, binaries, launcher });
    await clearPostmasterPid(dataDir, options.onNotice);

    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freePort());
      const command = launcher.command(
        binaries.postgres,
        serverArguments({ dataDir, port, durable, maxConnections }),
      );
      try {
        return await runServer({ command, dataDir, port, password });
      } catch (error) {
        if (attempt === 10 || !isTransient(error, options.port)) throw error;
        await sleep(attempt * 200);
      }
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === 'ENOSPC' ? new Error(postgresFailure(message, { dataDir }), { cause: error }) : error;
  }
}

function launcherOf(program: string): Launcher {
  try {
    return findLauncher(program);
  } catch (error) {
    throw new Error(`${(error as Error).message}: set DATABASE_URL to your own Postgres`, {
      cause: error,
    });
  }
}

function serverArguments(options: {
  dataDir: string;
  port: number;
  durable: boolean;
  maxConnections: number;
}) {
  const settings: Record<string, string> = {
    port: String(options.port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: String(options.maxConnections),
    shared_buffers: '256MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(options.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return [
    '-D',
    options.dataDir,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/**
 * Returns whether a retry can succeed: another process took the free port, or processes of a killed server
 * are still ending.
 */
function isTransient(error: unknown, port: number | undefined): boolean {
  if (!(error instanceof ProcessStartError)) return false;
  return (
    (port === undefined && /address already in use/i.test(error.output)) ||
    /pre-existing shared memory block/.test(error.output)
  );
}
