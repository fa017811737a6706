import { join } from 'node:path';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import { repositoryRoot } from '@leads/local-stack/repository';
import { longTimeouts } from '@leads/test-kit/services';
import { jwtSecret } from './credentials.ts';

/** A measured server. Its log goes to /dev/null, so no other process affects the measurement. */
export interface Program extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  readonly process: SupervisedProcess;
}

interface ServiceSettings {
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A module that Node loads first (`--import`). It communicates with this process over an IPC channel. */
  readonly preload?: URL | undefined;
}

const readyTimeoutMs = 60_000;

/** Starts a built service with its default settings, without waiting until it is ready. */
export async function spawnService(name: 'crm' | 'intake', settings: ServiceSettings): Promise<Program> {
  const port = await freePort();
  const { preload, databaseUrl } = settings;
  const service = startProcess({
    name,
    file: process.execPath,
    args: [
      ...(preload === undefined ? [] : ['--expose-gc', '--import', preload.href]),
      join(repositoryRoot, 'apps', name, 'dist/server.js'),
    ],
    stdio: ['ignore', 'ignore', 'inherit', ...(preload === undefined ? [] : ['ipc' as const])],
    env: {
      ...(name === 'crm' ? crmEnvironment : { PATH: process.env['PATH'] }),
      DATABASE_URL: databaseUrl,
      [`${name.toUpperCase()}_PORT`]: String(port),
      SHUTDOWN_DELAY_MS: '0',
      ...settings.env,
    },
  });
  return programOf(service, port);
}

/** Starts a built service with its default settings, and waits until it is ready. */
export async function startProgram(name: 'crm' | 'intake', settings: ServiceSettings): Promise<Program> {
  const program = await spawnService(name, settings);
  const url = `http://127.0.0.1:${program.port}`;
  await program.process.waitUntilReady(async () => (await readiness(url)) === 200, readyTimeoutMs);
  return program;
}

/**
 * Starts a reference server of this package, which sends its port over the IPC channel.
 *
 * @param file its built module.
 */
export async function startReference(file: string, args: string[], databaseUrl: string): Promise<Program> {
  const reference = startProcess({
    name: `reference ${args.join(' ')}`,
    file: process.execPath,
    args: [join(import.meta.dirname, file), ...args],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...crmEnvironment, DATABASE_URL: databaseUrl },
  });
  let port = 0;
  reference.child.once('message', (message: { port: number }) => {
    port = message.port;
  });
  await reference.waitUntilReady(() => port !== 0, readyTimeoutMs);
  return programOf(reference, port);
}

/** Returns the status of `/health/ready`; undefined without a response. */
export async function readiness(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

/** The settings of a measured CRM, except its database. */
export const crmEnvironment = {
  PATH: process.env['PATH'],
  JWT_SECRET: jwtSecret,
  // Long timeouts, so a slow machine is measured and does not fail.
  ...longTimeouts,
  // The load comes from one workspace.
  CRM_KEY_REQUESTS_PER_MINUTE: '0',
  CRM_WORKSPACE_REQUESTS_PER_MINUTE: '0',
};

function programOf(running: SupervisedProcess, port: number): Program {
  return {
    port,
    pid: running.pid,
    process: running,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
