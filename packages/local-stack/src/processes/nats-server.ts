import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { signalProcess } from './process-identity.ts';

/** A nats-server with JetStream that listens on 127.0.0.1 and ends with its owner. */
export interface LocalNats extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Settles when it has ended, with one line that says so. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
  /** SIGKILL: what it has acknowledged is there when it is started again. */
  kill(): Promise<void>;
}

const readyTimeoutMs = 15_000;
const stopTimeoutMs = 10_000;

/**
 * Starts a nats-server and waits until it takes connections.
 *
 * @param options.binary as `findNatsServer` tells.
 * @param options.dataDir for its streams and its log; made where it is not there.
 * @param options.port default: a free one.
 * @param options.settings more of its configuration, in its own format.
 * @param options.syncAlways each message is on disk before it is acknowledged, of which servers before 2.10 know nothing.
 * @throws Error with what it wrote, when it does not start.
 */
export async function startNats(options: {
  binary: string;
  dataDir: string;
  port?: number | undefined;
  settings?: string | undefined;
  syncAlways?: boolean;
}): Promise<LocalNats> {
  const { binary, dataDir, settings = '', syncAlways = false } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const port = options.port ?? (await freePort());
  const configFile = join(dataDir, 'nats.conf');
  const streams = JSON.stringify(join(dataDir, 'streams'));
  writeFileSync(
    configFile,
    `listen: "127.0.0.1:${port}"\nserver_name: "local-${port}"\n${settings.includes('jetstream') ? '' : `jetstream { store_dir: ${streams}${syncAlways ? ', sync_interval: always' : ''} }\n`}${settings}\n`,
    { mode: 0o600 },
  );
  const logFile = join(dataDir, 'nats.log');
  const log = openSync(logFile, 'w', 0o600);
  // A process group of its own: the terminal's Ctrl-C is for its owner, who ends the services first.
  const child = spawn(binary, ['-c', configFile], { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);

  let running = true;
  const signal = (name: NodeJS.Signals) => {
    if (running && child.pid !== undefined) signalProcess(child.pid, name);
  };
  const endWithOwner = () => signal('SIGTERM');
  process.once('exit', endWithOwner);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  }).then(() => {
    running = false;
    process.off('exit', endWithOwner);
    return `nats-server has ended: see ${logFile}`;
  });
  const stop = async () => {
    signal('SIGTERM');
    const timer = setTimeout(() => signal('SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(timer);
  };
  const kill = async () => {
    signal('SIGKILL');
    await exited;
  };

  const deadline = Date.now() + readyTimeoutMs;
  while (!(await takesConnections(port))) {
    await Promise.race([exited, sleep(20)]);
    if (running && Date.now() < deadline) continue;
    await kill();
    throw new Error(`nats-server does not start: ${readFileSync(logFile, 'utf8').trim().slice(-1_000)}`);
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    exited,
    stop,
    kill,
    [Symbol.asyncDispose]: stop,
  };
}

/** Whether a NATS server greets there: the first word of its protocol. */
async function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('data', (data) => settle(data.toString().startsWith('INFO')));
  });
}
