import { realpathSync } from 'node:fs';
import pg from 'pg';
import { mentionsFullDisk } from './disk-full.ts';
import { superuser } from './postgres-cluster.ts';
import { postgresFailure } from './postgres-failure.ts';
import { postgresStopSignals } from './postmaster-pid.ts';
import { type Command, ProcessStartError, startProcess } from './supervisor.ts';

/** A Postgres server that listens on 127.0.0.1 and ends with the process that started it. */
export interface LocalPostgres extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** Settles when the server has ended, with a one-line reason if the log contains one. */
  readonly exited: Promise<string>;
  /** Returns a connection string with the superuser's password. Default database: `leads`, which the caller creates. */
  url(database?: string): string;
  /** @throws pg.DatabaseError with code 42P04 if a database of that name exists. */
  createDatabase(name: string, options?: { template?: string }): Promise<void>;
  /** Ends the connections to the database first. A database that does not exist is no error. */
  dropDatabase(name: string): Promise<void>;
  /** Shuts the server down. Open transactions are rolled back. */
  stop(): Promise<void>;
}

/** Recovery after a crash can be slow. */
const readyTimeoutMs = 120_000;

/**
 * Runs a Postgres server and waits until it accepts queries. Its log is `<dataDir>.log`.
 *
 * @throws ProcessStartError with a one-line reason.
 */
export async function runServer(options: {
  command: Command;
  dataDir: string;
  port: number;
  password: string;
}): Promise<LocalPostgres> {
  const { command, dataDir, port } = options;
  const logFile = `${dataDir}.log`;
  const server = startProcess({ ...command, name: 'Postgres', logFile, stopSignals: postgresStopSignals });
  const url = (database = 'leads') =>
    `postgresql://${superuser}:${options.password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  try {
    await server.waitUntilReady(() => answers(url('postgres'), dataDir), readyTimeoutMs);
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error;
    const { output } = error;
    const reason = postgresFailure(output, { dataDir, port }) ?? `Postgres does not start: see ${logFile}`;
    throw new ProcessStartError(reason, output);
  }

  const exited = server.exited.then(() => {
    // A FATAL error ends the connection of a client, not the server.
    const lines = server.output().split('\n').slice(-50);
    const ownEnd = lines.filter((line) => line.includes('PANIC') || mentionsFullDisk(line));
    return postgresFailure(ownEnd.join('\n'), { dataDir }) ?? `Postgres has ended: see ${logFile}`;
  });
  const stop = () => server.stop();
  return {
    port,
    pid: server.pid,
    exited,
    url,
    async createDatabase(name, { template } = {}) {
      const from = template === undefined ? '' : ` TEMPLATE ${pg.escapeIdentifier(template)}`;
      await execute(url('postgres'), `CREATE DATABASE ${pg.escapeIdentifier(name)}${from}`);
    },
    async dropDatabase(name) {
      await execute(url('postgres'), `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Returns whether the server at `url` runs on this data directory; another server may use the port. */
async function answers(url: string, dataDir: string): Promise<boolean> {
  try {
    const rows = await execute(url, `SELECT current_setting('data_directory') AS directory`);
    return realpathSync((rows[0] as { directory: string }).directory) === realpathSync(dataDir);
  } catch {
    return false;
  }
}

async function execute(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  // Without a listener, a broken idle connection ends this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
