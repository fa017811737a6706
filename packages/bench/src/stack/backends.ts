import { join } from 'node:path';
import type { DisposeStack } from '@leads/core/dispose-stack';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { Restartable } from './restartable.ts';

/** Postgres with durable settings, and NATS. */
export interface Backends {
  readonly postgres: Restartable<LocalPostgres>;
  readonly nats: readonly Restartable<LocalNats>[];
  /** The URLs of all servers, separated by commas. */
  readonly natsUrl: string;
}

/**
 * Starts Postgres and NATS.
 *
 * @param options.postgresDirectory default: the directory.
 * @param options.natsServer the path of the program.
 * @param options.natsServers several servers form a cluster. Default: 1.
 * @param options.syncAlways NATS writes each message to the disk before it acknowledges it.
 */
export async function startBackends(
  resources: DisposeStack,
  options: {
    directory: string;
    postgresDirectory?: string | undefined;
    natsServer: string;
    natsServers?: number | undefined;
    syncAlways?: boolean | undefined;
  },
): Promise<Backends> {
  const { directory, natsServer: binary, natsServers = 1, syncAlways = false } = options;
  const port = await freePort();
  const dataDir = join(options.postgresDirectory ?? directory, 'postgres');
  const postgres = resources.use(new Restartable(() => startPostgres({ dataDir, port })));
  const members = await Promise.all(
    Array.from({ length: natsServers }, async () => ({ port: await freePort(), route: await freePort() })),
  );
  const routes = members.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
  const nats = members.map((member, index) => {
    const settings =
      natsServers === 1
        ? undefined
        : `cluster { name: "bench", listen: "127.0.0.1:${member.route}", routes: [${routes}] }`;
    const start = {
      binary,
      port: member.port,
      settings,
      syncAlways,
      dataDir: join(directory, `nats-${index}`),
    };
    return resources.use(new Restartable(() => startNats(start)));
  });
  await Promise.all([postgres, ...nats].map((server) => server.start()));
  return { postgres, nats, natsUrl: nats.map((server) => server.process.url).join() };
}
