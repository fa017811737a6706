import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { serviceEnvironment } from '@leads/local-stack/processes/service-environment';
import type { ServiceName } from '@leads/local-stack/processes/services';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import { repositoryRoot } from '@leads/local-stack/repository';
import { type Fixture, jwtSecret, openFixture, type TestWorkspace } from './fixture.ts';
import { createTestDatabase } from './test-database.ts';

export const serviceNames: readonly ServiceName[] = ['crm', 'intake'];

/** Where each service takes leads. */
export const createPath = { crm: '/api/v1/order/leads', intake: '/api/v1/leads' } as const;

/** A database of its own with a workspace in it, and the settings of services that are to use it. */
export interface Ground extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly fixture: Fixture;
  readonly workspace: TestWorkspace;
  readonly env: Record<string, string>;
}

export async function prepareGround(): Promise<Ground> {
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

/** What a lead is created with, by either service. */
export function leadBody(service: ServiceName, fields: Record<string, unknown> = {}) {
  return {
    ...(service === 'crm' && { campaignCode: 'DEMO' }),
    name: 'Ada',
    phone: '+44 20 7946 0958',
    ...fields,
  };
}

/** Spawns a built service and does not wait until it is ready. Sends SIGKILL when disposed. */
export function spawnService(name: ServiceName, env: Record<string, string>): SupervisedProcess {
  return startProcess({
    name,
    file: process.execPath,
    args: [join(repositoryRoot, 'apps', name, 'dist/server.js')],
    env: serviceEnvironment(env),
    stopSignals: [],
  });
}

/** A way to a Postgres that can be closed and opened again; it is closed at first. */
export class Gateway implements AsyncDisposable {
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
    this.#server = createServer((inward) => {
      const outward = connect(this.#to);
      for (const [socket, other] of [
        [inward, outward],
        [outward, inward],
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

  /** Cuts every connection, and refuses others. */
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
