import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import { freePort } from './free-port.ts';
import { serviceEnvironment } from './service-environment.ts';
import { type ProcessExit, ProcessStartError, type SupervisedProcess, startProcess } from './supervisor.ts';

export { runLeads } from './run-leads.ts';

export type ServiceName = 'crm' | 'intake';

/** A built service as a process of its own. */
export interface Service extends AsyncDisposable {
  readonly name: ServiceName;
  /** Its origin, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  /** Returns the output of the service on stdout and stderr so far: the last 4 Mi characters at most. */
  output(): string;
  /** Sends SIGTERM, and SIGKILL if the service has not ended after 30 s. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

export interface ServiceOptions {
  /**
   * All settings except host and port. The service inherits only PATH and similar variables from this
   * process.
   */
  readonly env: NodeJS.ProcessEnv;
  /** Default: a free one. */
  readonly port?: number;
  /** The repository that the service was built in; default: this one. */
  readonly root?: string;
  /** Runs the service under `node --watch`, and waits for it without a limit. */
  readonly watch?: boolean;
  /** Stops the service, even before it is ready. */
  readonly signal?: AbortSignal;
  /** Called with the pid before the service is ready. */
  readonly onSpawn?: (pid: number) => void;
  /** Called with the output of the service. */
  readonly onOutput?: (text: string) => void;
}

/** It only ends starts that hang, also on a busy machine. */
const readyTimeoutMs = 120_000;
const stopTimeoutMs = 30_000;

/**
 * Starts a built service and waits until it is ready.
 *
 * @throws ProcessStartError if the service ends or does not become ready within 2 minutes.
 */
export async function startService(name: ServiceName, options: ServiceOptions): Promise<Service> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const host = options.env[`${name.toUpperCase()}_HOST`] || '127.0.0.1';
    const url = `http://${reachable(host)}:${port}`;
    const service = spawnService(name, { host, port }, options);
    if (service.pid !== 0) options.onSpawn?.(service.pid);
    try {
      await service.waitUntilReady(
        () => isReady(url),
        options.watch === true ? Number.POSITIVE_INFINITY : readyTimeoutMs,
      );
    } catch (error) {
      // Another process may have taken the free port in the meantime.
      const isPortTaken = error instanceof ProcessStartError && error.output.includes('already in use');
      if (isPortTaken && options.port === undefined && attempt < 3) continue;
      throw error;
    }
    const stop = () => service.stop();
    return {
      name,
      url,
      pid: service.pid,
      exited: service.exited,
      output: () => service.output(),
      stop,
      kill: () => service.kill(),
      [Symbol.asyncDispose]: stop,
    };
  }
}

function spawnService(
  name: ServiceName,
  { host, port }: { host: string; port: number },
  options: ServiceOptions,
): SupervisedProcess {
  const { env, root = repositoryRoot, watch = false, signal, onOutput } = options;
  const prefix = name.toUpperCase();
  return startProcess({
    name,
    file: process.execPath,
    args: [
      ...(watch ? ['--watch', '--watch-preserve-output'] : []),
      join(root, 'apps', name, 'dist/server.js'),
    ],
    env: serviceEnvironment({
      SHUTDOWN_DELAY_MS: '0',
      ...env,
      [`${prefix}_HOST`]: host,
      [`${prefix}_PORT`]: String(port),
    }),
    stopSignals: [['SIGTERM', stopTimeoutMs]],
    signal,
    onOutput,
  });
}

/** Returns the host to use in a URL for a server that listens on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
