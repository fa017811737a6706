import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@leads/core/db-admin/migrate';
import { startBroker } from './broker.ts';
import { makeDataDirectory } from './data-directory.ts';
import { connectToDatabase, type RunDatabase, startDatabase } from './database.ts';
import { prepareDemo } from './demo.ts';
import { clearStaleLock, type StartLock, takeLock } from './lock.ts';
import { startCompiler, startWebsite } from './processes/compiler.ts';
import { mentionsFullDisk } from './processes/disk-full.ts';
import { signalProcess } from './processes/process-identity.ts';
import { type Service, type ServiceName, startService } from './processes/services.ts';
import type { SupervisedProcess } from './processes/supervisor.ts';
import { migrationsDir } from './repository.ts';
import { loadSecret } from './secrets.ts';
import { checkPorts, readSettings, type Settings } from './settings.ts';
import { startupMessage } from './startup-message.ts';
import { listenForStop } from './stop-request.ts';

const help = `Usage: npm start [-- --empty], or npm run dev

Starts Postgres and both services, which serve the website, and prints commands to try them. Ctrl-C stops
them; the data stays. The demo workspace gets a month of leads once. With --empty it gets none.
npm run dev (--watch) also compiles and restarts the services on every change, and serves the website from
its sources.

Environment:
- CRM_PORT: default 3000
- INTAKE_PORT: default 3001
- LEADS_DATA_DIR: default .data
- DATABASE_URL: by default, a Postgres under the data directory
- NATS_URL: by default, a nats-server under the data directory, if one is installed
- JWT_SECRET: by default, generated once
All other settings of the services apply too.`;

/** Functions that stop the started parts, in the order in which these were started. */
const closers: (() => unknown)[] = [];
const pids: number[] = [];
let lock: StartLock | undefined;
let database: RunDatabase | undefined;

async function main(args: readonly string[]): Promise<void> {
  const unknown = args.find((arg) => !['--watch', '--empty', '--help', '-h'].includes(arg));
  if (unknown !== undefined) throw new Error(`Unknown option ${unknown}: see --help`);
  if (args.includes('--help') || args.includes('-h')) return console.log(help);

  const settings = readSettings(process.env);
  const stop = listenForStop(force);
  try {
    await run(settings, { watch: args.includes('--watch'), empty: args.includes('--empty') }, stop);
  } catch (error) {
    if (!stop.aborted) throw new Error(await explain(error, settings), { cause: error });
  } finally {
    for (const close of closers.toReversed()) {
      try {
        await close();
      } catch (error) {
        console.error((error as Error).message);
      }
    }
  }
}

/** Starts everything and returns when `stop` aborts. @throws Error if a process ends unexpectedly. */
async function run(
  settings: Settings,
  { watch, empty }: { watch: boolean; empty: boolean },
  stop: AbortSignal,
): Promise<void> {
  const { dataDir, ports, databaseUrl } = settings;
  const notice = (line: string) => console.error(line);
  await clearStaleLock(dataDir, notice);
  await checkPorts(ports, process.env);
  makeDataDirectory(dataDir);
  const startLock = takeLock(dataDir);
  lock = startLock;
  closers.push(() => startLock.release());

  stop.throwIfAborted();
  const postgres =
    databaseUrl === undefined ? await startDatabase(dataDir, notice) : await connectToDatabase(databaseUrl);
  database = postgres;
  closers.push(() => postgres.stop());
  if (postgres.pid !== undefined) record('postgres', postgres.pid);

  stop.throwIfAborted();
  const broker = await startBroker(dataDir, settings.natsUrl);
  closers.push(() => broker.stop());
  if (broker.pid !== undefined) record('nats', broker.pid);

  stop.throwIfAborted();
  const env = {
    ...process.env,
    DATABASE_URL: postgres.url,
    NATS_URL: broker.url,
    JWT_SECRET: undefined,
  };
  const crmEnv = {
    ...env,
    JWT_SECRET: settings.jwtSecret ?? loadSecret(dataDir, 'jwt-secret'),
    DELIVERIES_SECRET: process.env['DELIVERIES_SECRET'] || loadSecret(dataDir, 'deliveries-secret'),
    // Receivers on this machine, to try webhooks.
    DELIVERIES_ALLOW_HTTP: process.env['DELIVERIES_ALLOW_HTTP'] || 'true',
    DELIVERIES_ALLOW_NETWORKS: process.env['DELIVERIES_ALLOW_NETWORKS'] || '127.0.0.0/8,::1',
    PUBLIC_URL: process.env['PUBLIC_URL'] || `http://127.0.0.1:${ports.crm}`,
    INTAKE_URL: process.env['INTAKE_URL'] || `http://127.0.0.1:${ports.intake}`,
  };
  // In this process, because starting the command line takes longer than migrating.
  await migrate({ databaseUrl: postgres.url, migrationsDir });

  stop.throwIfAborted();
  const [crm, intake] = await all([
    startLogged('crm', { settings, env: crmEnv, watch, stop }),
    startLogged('intake', { settings, env: { ...env, PUBLIC_URL: crmEnv.PUBLIC_URL }, watch, stop }),
  ]);

  stop.throwIfAborted();
  const addresses = { crm: `${crm.url}/api`, intake: `${intake.url}/api` };
  const demo = await prepareDemo({ dataDir, ...addresses, empty, env: crmEnv });

  stop.throwIfAborted();
  const databaseAddress = databaseUrl === undefined ? postgres.url : 'as in DATABASE_URL';
  const events = broker.url ?? 'stay in the database: nats-server is not installed';
  console.log(startupMessage(demo, { dataDir, database: databaseAddress, events }));
  if (watch) {
    const superviseCompiler = (name: string, compiler: SupervisedProcess) => {
      closers.push(() => compiler.stop());
      record(name, compiler.pid);
    };
    superviseCompiler('crm compiler', startCompiler('crm'));
    superviseCompiler('intake compiler', startCompiler('intake'));
    console.log('The website, served from its sources:');
    superviseCompiler('website', startWebsite(crm.url));
  }

  const failure = await Promise.race([
    once(stop, 'abort').then(() => undefined),
    ...[crm, intake].map((service) => describeEnd(service, dataDir)),
    ...(postgres.exited === undefined ? [] : [postgres.exited]),
  ]);
  if (failure !== undefined) throw new Error(failure);
}

/**
 * Starts a service that writes its log into the data directory, and in watch mode to the terminal as well.
 */
async function startLogged(
  name: ServiceName,
  options: { settings: Settings; env: NodeJS.ProcessEnv; watch: boolean; stop: AbortSignal },
): Promise<Service> {
  const { settings, env, watch, stop } = options;
  const log = createWriteStream(logFile(settings.dataDir, name), { mode: 0o600 });
  // A log that cannot be written, such as on a full disk, does not stop the run.
  log.on('error', () => undefined);
  const service = await startService(name, {
    env,
    port: settings.ports[name],
    watch,
    signal: stop,
    onSpawn: (pid) => record(name, pid),
    onOutput: (text) => {
      log.write(text);
      if (watch) process.stdout.write(text.replaceAll(/^(?=.)/gm, `${name}: `));
    },
  });
  closers.push(() => service.stop());
  return service;
}

/**
 * Records a process: in memory for a forced stop, and in the lock file for the next run if this one is
 * killed.
 */
function record(name: string, pid: number): void {
  pids.push(pid);
  lock?.record(name, pid);
}

function logFile(dataDir: string, name: ServiceName): string {
  return join(dataDir, `${name}.log`);
}

async function describeEnd(service: Service, dataDir: string): Promise<string> {
  const { code, signal } = await service.exited;
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return `${service.name} ended unexpectedly ${how}: see ${logFile(dataDir, service.name)}`;
}

/**
 * Waits until all promises settle, and then rejects like Promise.all. So every part that did start is known
 * and can be closed.
 */
async function all<T extends unknown[]>(promises: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Returns a one-line error message for a reader who does not know this program. */
async function explain(error: unknown, { dataDir }: Settings): Promise<string> {
  const { message, code, path, syscall } = error as NodeJS.ErrnoException;
  if (mentionsFullDisk(message)) {
    return message.includes(dataDir) ? message : `No space left on device: cannot write to ${dataDir}`;
  }
  if (code === 'EACCES' && path !== undefined) {
    return `Permission denied: ${path}. To become its owner: sudo chown -R "$(id -un)" ${dataDir}`;
  }
  // Node.js reports ENOENT if it cannot create a directory on a read-only disk.
  if (code === 'EROFS' || syscall === 'mkdir') {
    return `Cannot write to ${dataDir}: set LEADS_DATA_DIR to a directory that can be written`;
  }
  // If Postgres ends, its clients fail as well, often before its exit is noticed.
  return Promise.race([database?.exited ?? message, sleep(500, message)]);
}

/** Kills all processes at once, at a repeated stop signal. */
function force(): void {
  for (const pid of pids) {
    if (pid === database?.pid) signalProcess(pid, 'SIGQUIT');
    else signalProcess(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  }
  lock?.release();
  process.exit(1);
}

// If the terminal is closed, writing to it fails, but the processes must still be stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
