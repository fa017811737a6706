import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startProcess } from './supervisor.ts';
import { acceptsConnections } from './accepts-connections.ts';

/** A nats-server with JetStream that listens on 127.0.0.1 and ends with the process that started it. */
export interface LocalNats extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Settles when the server has ended, with a line that names its log. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
  /** Sends SIGKILL. Acknowledged messages are available after a restart. */
  kill(): Promise<void>;
}

/** It only ends starts that hang, also on a busy machine. */
const readyTimeoutMs = 120_000;

/**
 * Starts a nats-server and waits until it takes connections.
 *
 * @param options.binary from `findNatsServer`.
 * @param options.dataDir for its streams and its log; created if it does not exist.
 * @param options.port default: a free one.
 * @param options.settings more of its configuration, in its own format.
 * @param options.syncAlways writes each message to disk before it is acknowledged; needs nats-server 2.10.
 * @throws ProcessStartError
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
  const server = startProcess({ name: 'nats-server', file: binary, args: ['-c', configFile], logFile });
  await server.waitUntilReady(() => acceptsConnections(port, 'INFO'), readyTimeoutMs);
  const stop = () => server.stop();
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: server.pid,
    exited: server.exited.then(() => `nats-server has ended: see ${logFile}`),
    stop,
    kill: () => server.kill(),
    [Symbol.asyncDispose]: stop,
  };
}
