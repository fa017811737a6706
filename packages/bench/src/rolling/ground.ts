import { join } from 'node:path';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startNats } from '@leads/local-stack/processes/nats-server';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import { type LocalProxy, startProxy } from '@leads/local-stack/processes/proxies';
import { type Service, type ServiceName, startService } from '@leads/local-stack/processes/services';
import { Part } from '../drills/part.ts';
import { makeDirectory, waiting } from '../drills/stack.ts';
import { jwtSecret } from '../list/crm-process.ts';

export const serviceNames: readonly ServiceName[] = ['intake', 'crm'];

/** What services run on, and an nginx in front of two places for each: in both, one or none of which is an instance. */
export interface Ground extends AsyncDisposable {
  readonly directory: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly nginx: LocalProxy;
  /**
   * An instance that is not started yet, with default settings.
   *
   * @param options.root the repository it was built in; default: this one.
   */
  instance(name: ServiceName, options: { place: 0 | 1; root?: string }): Part<Service>;
  /** What waits to be told or stored, if anything does. */
  unsettled(eventsMayWaitMs: number): Promise<string | undefined>;
}

/**
 * @param options.parent where the data lies meanwhile; a temporary place without it.
 * @param options.prepare brings the database to where the services need it.
 */
export async function startGround(options: {
  parent: string | undefined;
  prepare: (databaseUrl: string) => Promise<unknown>;
}): Promise<Ground> {
  const started: AsyncDisposable[] = [];
  const own = <Started extends AsyncDisposable>(one: Started): Started => {
    started.push(one);
    return one;
  };
  const end = async () => {
    for (const one of started.splice(0).toReversed()) await one[Symbol.asyncDispose]();
  };
  try {
    const natsServer = await findNatsServer();
    const { path: directory } = own(makeDirectory(options.parent));
    const postgres = own(await startPostgres({ dataDir: join(directory, 'postgres') }));
    const nats = own(await startNats({ binary: natsServer, dataDir: join(directory, 'nats') }));
    await postgres.createDatabase('leads');
    const databaseUrl = postgres.url('leads');
    await options.prepare(databaseUrl);
    const places = {
      intake: [await freePort(), await freePort()],
      crm: [await freePort(), await freePort()],
    };
    const nginx = own(await startProxy('nginx', { directory: join(directory, 'nginx'), upstreams: places }));
    const env = {
      DATABASE_URL: databaseUrl,
      NATS_URL: nats.url,
      JWT_SECRET: jwtSecret,
      TRUST_PROXY: 'loopback',
      LOG_LEVEL: 'warn',
      // As it is where nothing is said.
      SHUTDOWN_DELAY_MS: '3000',
    };
    return {
      directory,
      databaseUrl,
      natsUrl: nats.url,
      nginx,
      instance(name, { place, root }) {
        const port = places[name][place] ?? 0;
        return own(
          new Part(async () => startService(name, { port, env, ...(root !== undefined && { root }) })),
        );
      },
      unsettled: (eventsMayWaitMs) => waiting({ databaseUrl, natsUrl: nats.url }, eventsMayWaitMs),
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
