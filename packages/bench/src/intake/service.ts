import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { MemberRef } from '@leads/core/credential';
import { createWorkspaceStore } from '@leads/core/db';
import { freePort } from '@leads/local-stack/processes/free-port';
import { issueCredentials } from '../list/crm-process.ts';
import { openForBench } from '../list/queries.ts';

const serverFile = resolve(import.meta.dirname, '../../../apps/intake/dist/server.js');
const readyTimeoutMs = 60_000;

/** Something that takes leads over HTTP, as a process of its own. */
export interface LeadService extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
}

/** The built intake. */
export interface IntakeService extends LeadService {
  readonly child: ChildProcess;
}

/** How the intake is started. */
interface IntakeStart {
  readonly databaseUrl: string;
  /** Its INTAKE_WORKERS. */
  readonly workers: number;
  /** A module that Node loads before the program, and that may talk to this process. */
  readonly preload?: string | undefined;
}

/**
 * Starts the built intake, which is not yet ready then, as `npm start` does, with its default settings: its log is written as in production, but
 * to /dev/null.
 */
export async function spawnIntake({ databaseUrl, workers, preload }: IntakeStart): Promise<IntakeService> {
  const port = await freePort();
  const options = preload === undefined ? [] : ['--expose-gc', '--import', pathToFileURL(preload).href];
  const child = spawn(process.execPath, [...options, serverFile], {
    stdio: ['ignore', 'ignore', 'inherit', ...(preload === undefined ? [] : ['ipc' as const])],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      INTAKE_PORT: String(port),
      INTAKE_WORKERS: String(workers),
      SHUTDOWN_DELAY_MS: '0',
    },
  });
  return { ...ownedService(child, port), child };
}

/** Starts the built intake and waits until it says that it is ready. */
export async function startIntake(start: IntakeStart): Promise<IntakeService> {
  const service = await spawnIntake(start);
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline && service.child.exitCode === null) {
    try {
      const response = await fetch(`http://127.0.0.1:${service.port}/health/ready`);
      await response.arrayBuffer();
      if (response.ok) return service;
    } catch {
      // Not listening yet.
    }
    await sleep(25);
  }
  await service[Symbol.asyncDispose]();
  throw new Error('The intake does not become ready');
}

/** @param kind a reference's name (reference.ts). */
export async function startReference(kind: string, databaseUrl: string): Promise<LeadService> {
  const child = fork(join(import.meta.dirname, 'intake/reference.js'), [kind, databaseUrl], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
  });
  const port = new Promise<number>((listening, reject) => {
    child.once('message', (message: { port: number }) => listening(message.port));
    child.once('exit', () => reject(new Error(`The reference ${kind} does not start`)));
  });
  return ownedService(child, await port);
}

/** A service that ends with this process at the latest. */
function ownedService(child: ChildProcess, port: number): LeadService {
  const exited = once(child, 'exit');
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  return {
    port,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      end();
      await exited;
      process.off('exit', end);
    },
  };
}

/** Of whoever owns the workspace. */
export const ownerEmail = 'bench@example.com';

/** Makes a workspace in a database of the service. @returns its owner. */
export async function createOwner(databaseUrl: string): Promise<MemberRef> {
  await using database = openForBench(databaseUrl);
  const { user, workspace } = await createWorkspaceStore(database).addMember({
    email: ownerEmail,
    name: 'Benchmark',
    role: 'owner',
    workspace: { slug: 'bench', name: 'Benchmark' },
  });
  return { workspaceId: workspace.id, userId: user.id };
}

/** Makes a workspace in a database of the service. @returns the header of a key that may send it leads. */
export async function createKey(databaseUrl: string): Promise<Record<string, string>> {
  const { API_KEY } = await issueCredentials(databaseUrl, await createOwner(databaseUrl));
  return { API_KEY };
}
