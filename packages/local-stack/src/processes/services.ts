import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '../repository.ts';
import { freePort } from './free-port.ts';
import { signalProcess } from './process-identity.ts';
import { serviceEnvironment } from './service-environment.ts';

export { runLeads } from './run-leads.ts';

export type ServiceName = 'crm' | 'intake';

export interface ServiceExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A built service as a process of its own. */
export interface Service extends AsyncDisposable {
  readonly name: ServiceName;
  /** Where it is reached, without a path: `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<ServiceExit>;
  /** The end of what it has written to stdout and stderr so far, up to 4 Mi characters. */
  output(): string;
  /** SIGTERM, and SIGKILL where this has not ended it after 30 s. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export interface ServiceOptions {
  /** All of its settings but host and port; of this process's environment it inherits next to nothing. */
  readonly env: NodeJS.ProcessEnv;
  /** Default: a free one. */
  readonly port?: number;
  /** The repository it was built in; default: this one. */
  readonly root?: string;
  /** Runs it under `node --watch`; then it may take as long as it likes to become ready. */
  readonly watch?: boolean;
  /** Stops it, also before it is ready. */
  readonly signal?: AbortSignal;
  /** Hears its pid before it is ready. */
  readonly onSpawn?: (pid: number) => void;
  /** Hears what it writes. */
  readonly onOutput?: (text: string) => void;
}

const readyTimeoutMs = 30_000;
const stopTimeoutMs = 30_000;
const outputLimit = 4 * 1024 * 1024;

/**
 * Starts a built service and waits until it is ready.
 *
 * @throws Error with the last lines it wrote, when it ends or does not become ready within 30 s.
 */
export async function startService(name: ServiceName, options: ServiceOptions): Promise<Service> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const service = spawnService(name, port, options);
    const state = await readiness(
      service,
      options.watch === true ? Number.POSITIVE_INFINITY : readyTimeoutMs,
    );
    if (state === 'ready') return service;
    await service.kill();
    // A free port may have gone to someone else meanwhile.
    if (options.port === undefined && attempt < 3 && service.output().includes('already in use')) continue;
    const last = service.output().trimEnd().split('\n').slice(-10).join('\n');
    throw new Error(`${name} ${state === 'ended' ? 'does not start' : 'does not become ready'}: ${last}`);
  }
}

function spawnService(name: ServiceName, port: number, options: ServiceOptions): Service {
  const prefix = name.toUpperCase();
  const host = options.env[`${prefix}_HOST`] || '127.0.0.1';
  const watch = options.watch === true ? ['--watch', '--watch-preserve-output'] : [];
  const root = options.root ?? repositoryRoot;
  const child = spawn(process.execPath, [...watch, join(root, 'apps', name, 'dist/server.js')], {
    // Its own process group: the terminal's Ctrl-C reaches only us, who stop services and database in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: serviceEnvironment({
      SHUTDOWN_DELAY_MS: '0',
      ...options.env,
      [`${prefix}_HOST`]: host,
      [`${prefix}_PORT`]: String(port),
    }),
  });

  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-outputLimit);
      options.onOutput?.(text);
    });
  }

  let exit: ServiceExit | undefined;
  const signal = (sent: NodeJS.Signals) => {
    if (exit === undefined && child.pid !== undefined) signalProcess(child.pid, sent);
  };
  const endWithOwner = () => signal('SIGTERM');
  process.once('exit', endWithOwner);
  const exited = new Promise<ServiceExit>((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve({ code: null, signal: null });
    });
    // Not 'exit': until then what it wrote last may still be on its way.
    child.once('close', (code, received) => resolve({ code, signal: received }));
  }).then((result) => {
    exit = result;
    process.off('exit', endWithOwner);
    return result;
  });

  if (child.pid !== undefined) options.onSpawn?.(child.pid);

  const killGroup = () => {
    // Under --watch there are two of them. Windows has no process groups.
    if (exit === undefined && child.pid !== undefined) {
      signalProcess(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL');
    }
  };
  const stop = async () => {
    signal('SIGTERM');
    const timer = setTimeout(killGroup, stopTimeoutMs);
    await exited;
    clearTimeout(timer);
  };
  options.signal?.addEventListener('abort', () => void stop(), { once: true });
  return {
    name,
    url: `http://${reachable(host)}:${port}`,
    pid: child.pid ?? 0,
    exited,
    output: () => output,
    stop,
    async kill() {
      killGroup();
      await exited;
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Where to reach what listens on `host`, as part of an address. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

async function readiness(service: Service, timeoutMs: number): Promise<'ready' | 'ended' | 'late'> {
  let ended = false;
  const exited = service.exited.then(() => {
    ended = true;
  });
  const deadline = Date.now() + timeoutMs;
  while (!ended && Date.now() < deadline) {
    try {
      const response = await fetch(`${service.url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
      await response.arrayBuffer();
      if (response.ok && !ended) return 'ready';
    } catch {
      // Not listening yet.
    }
    await Promise.race([exited, sleep(25)]);
  }
  return ended ? 'ended' : 'late';
}
