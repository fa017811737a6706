import { spawn } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import pg from 'pg';
import { saysDiskFull } from './disk-full.ts';
import { superuser } from './postgres-cluster.ts';
import { postgresFailure } from './postgres-failure.ts';
import { signalProcess } from './process-identity.ts';
import type { Command } from './unprivileged-launcher.ts';

/** A Postgres server that listens on 127.0.0.1 and ends with its owner. */
export interface LocalPostgres extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** Settles when the server has ended, with one line that says why, as far as its log knows. */
  readonly exited: Promise<string>;
  /** A connection string with the superuser's password. Default database: `leads`, which is not there by itself. */
  url(database?: string): string;
  /** @throws the error of node-postgres; its code is 42P04 when there is one of that name. */
  createDatabase(name: string, options?: { template?: string }): Promise<void>;
  /** Ends the connections to it; a database that is not there is no error. */
  dropDatabase(name: string): Promise<void>;
  /** Shuts down in order: open transactions are rolled back, what is committed stays. */
  stop(): Promise<void>;
}

/** A server that did not start; `log` is what it wrote. */
export class PostgresStartError extends Error {
  override readonly name = 'PostgresStartError';
  readonly log: string;

  constructor(message: string, log: string) {
    super(message);
    this.log = log;
  }
}

/** Recovery after a crash may take its time. */
const readyTimeoutMs = 120_000;
const fastShutdownMs = 20_000;
const largestLogBytes = 16 * 1024 * 1024;

/**
 * Runs a Postgres server and waits until it answers.
 *
 * @throws PostgresStartError
 */
export async function runServer(options: {
  command: Command;
  dataDir: string;
  port: number;
  password: string;
}): Promise<LocalPostgres> {
  const { command, dataDir, port } = options;
  const logFile = `${dataDir}.log`;
  const log = openLog(logFile);
  const child = spawn(command.file, command.args, {
    ...command.options,
    // A process group of its own: the terminal's Ctrl-C is for its owner, who ends the services first.
    detached: true,
    stdio: ['ignore', log.descriptor, log.descriptor],
  });
  closeSync(log.descriptor);

  let running = true;
  const exited = new Promise<void>((resolve) =>
    child.once('exit', () => resolve()).once('error', () => resolve()),
  );
  const signal = (name: NodeJS.Signals) => {
    if (running && child.pid !== undefined) signalProcess(child.pid, name);
  };
  const shutDown = () => signal('SIGINT');
  process.once('exit', shutDown);
  const ended = exited.then(() => {
    running = false;
    process.off('exit', shutDown);
    // What is FATAL to a client's connection is nothing to the server.
    const ownEnd = log
      .written()
      .split('\n')
      .slice(-50)
      .filter((line) => line.includes('PANIC') || saysDiskFull(line));
    return postgresFailure(ownEnd.join('\n'), { dataDir }) ?? `Postgres has ended: see ${logFile}`;
  });

  const stop = async () => {
    for (const [name, patienceMs] of [
      ['SIGINT', fastShutdownMs],
      ['SIGQUIT', 10_000],
      ['SIGKILL', 10_000],
    ] as const) {
      signal(name);
      if ((await withTimeout(patienceMs, ended)) !== timedOut) return;
    }
  };

  const url = (database = 'leads') =>
    `postgresql://${superuser}:${options.password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;

  const deadline = Date.now() + readyTimeoutMs;
  while (!(await answers(url('postgres'), dataDir))) {
    await withTimeout(25, ended);
    if (running && Date.now() < deadline) continue;
    await stop();
    const written = log.written();
    const reason = postgresFailure(written, { dataDir, port }) ?? `Postgres does not start: see ${logFile}`;
    throw new PostgresStartError(reason, written);
  }

  return {
    port,
    pid: child.pid as number,
    exited: ended,
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

function openLog(file: string) {
  const descriptor = openSync(file, 'a', 0o600);
  if (fstatSync(descriptor).size > largestLogBytes) ftruncateSync(descriptor);
  const start = fstatSync(descriptor).size;
  return { descriptor, written: () => readFileSync(file).subarray(start).toString() };
}

/** Whether the server that answers there is the one of this data directory, not another one on the same port. */
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
  // A connection that breaks while idle has nobody to tell.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
