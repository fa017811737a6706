import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { serviceEnvironment } from '@leads/local-stack/processes/service-environment';
import type { ServiceName } from './services.ts';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import { repositoryRoot } from '@leads/local-stack/repository';
import { type Fixture, jwtSecret, openFixture, type TestWorkspace } from './fixture.ts';
import { createTestDatabase } from './test-database.ts';

export const serviceNames: readonly ServiceName[] = ['crm', 'intake'];

/** The path that creates leads, for each service. */
export const createPath = { crm: '/api/v1/order/leads', intake: '/api/v1/leads' } as const;

/** A new database with a workspace, and the environment of services that use it. */
export interface TestEnvironment extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly fixture: Fixture;
  readonly workspace: TestWorkspace;
  readonly env: Record<string, string>;
}

export async function prepareEnvironment(): Promise<TestEnvironment> {
  const database = await createTestDatabase();
  const fixture = openFixture(database.url);
  return {
    databaseUrl: database.url,
    fixture,
    workspace: await fixture.createWorkspace(),
    env: { DATABASE_URL: database.url, JWT_SECRET: jwtSecret },
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Returns the body of a request that creates a lead. */
export function leadBody(service: ServiceName, fields: Record<string, unknown> = {}) {
  return {
    ...(service === 'crm' && { campaignCode: 'DEMO' }),
    name: 'Ada',
    phone: '+44 20 7946 0958',
    ...fields,
  };
}

/**
 * Spawns a built service and does not wait until it is ready. Sends SIGKILL when disposed.
 *
 * @param stdout a file descriptor that replaces the pipe of its standard output.
 */
export function spawnService(
  name: ServiceName,
  env: Record<string, string>,
  stdout?: number,
): SupervisedProcess {
  return startProcess({
    name,
    file: process.execPath,
    args: [join(repositoryRoot, 'apps', name, 'dist/server.js')],
    env: serviceEnvironment(env),
    stopSignals: [],
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
  });
}

/** A TCP proxy to a Postgres that can be closed and opened again. It is closed at first. */
export class DatabaseProxy implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  readonly #to: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(databaseUrl: string, port: number) {
    const url = new URL(databaseUrl);
    this.#to = { host: url.hostname, port: Number(url.port) };
    url.port = String(port);
    this.url = url.href;
    this.#port = port;
  }

  async open(): Promise<void> {
    this.#server = createServer((clientSocket) => {
      const serverSocket = connect(this.#to);
      for (const [socket, other] of [
        [clientSocket, serverSocket],
        [serverSocket, clientSocket],
      ] as const) {
        this.#sockets.add(socket);
        socket
          .on('error', () => undefined)
          .on('close', () => {
            this.#sockets.delete(socket);
            other.destroy();
          });
        socket.pipe(other);
      }
    }).listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Resets all connections and rejects new ones. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
