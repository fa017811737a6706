import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, endProcess, type StopSignals } from './process-identity.ts';

/**
 * Stop signals of Postgres. A fast shutdown (SIGINT) disconnects the clients. An immediate shutdown (SIGQUIT)
 * leaves recovery to the next start (PostgreSQL, 18.5 "Shutting Down the Server").
 */
export const postgresStopSignals: StopSignals = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 10_000],
];

/**
 * Prepares a data directory for a new Postgres. It stops a server that a killed run left behind, and removes
 * a stale lock file.
 * Postgres ignores a stale lock file, unless another process has reused its pid. Then Postgres does not
 * start.
 *
 * @throws Error if the old Postgres cannot be stopped.
 */
export async function clearPostmasterPid(dataDir: string, onNotice?: (line: string) => void): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  const pid = readPid(file);
  if (pid === undefined) return;

  if (isPostgresOf(pid, dataDir)) {
    onNotice?.(`A Postgres of a killed run (pid ${pid}) still uses ${dataDir}: stopping it`);
    if (!(await endPostgres(pid))) throw new Error(`The Postgres with pid ${pid} on ${dataDir} does not end`);
  } else {
    onNotice?.(`Postgres on ${dataDir} was not shut down: it recovers the committed data`);
  }
  rmSync(file, { force: true });
}

/** Returns whether this process is the Postgres server of the data directory. */
function isPostgresOf(pid: number, dataDir: string): boolean {
  const command = commandLine(pid) ?? '';
  return (
    command.includes('postgres') &&
    [dataDir, realpathSync(dataDir)].some((path) => command.includes(`-D ${path} `))
  );
}

async function endPostgres(pid: number): Promise<boolean> {
  try {
    return await endProcess(pid, postgresStopSignals);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return false;
    throw error;
  }
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
