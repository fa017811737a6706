import { join } from 'node:path';
import type { DisposeStack } from '@leads/core/dispose-stack';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type LocalProxy, startProxy } from '@leads/local-stack/processes/proxies';
import { type Service, type ServiceName, startService } from '@leads/local-stack/processes/services';
import { startBackends } from './backends.ts';
import { jwtSecret } from './credentials.ts';
import { Restartable } from './restartable.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const serviceNames: readonly ServiceName[] = ['intake', 'crm'];

/** Postgres, NATS, and nginx in front of two instances of each service. */
export interface ProxiedStack {
  readonly directory: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly nginx: LocalProxy;
  /**
   * Creates an instance with default settings, without starting it.
   *
   * @param slot the index of the instance in nginx's upstreams.
   * @param root the repository that the instance was built in. Default: this one.
   */
  instance(name: ServiceName, slot: 0 | 1, root?: string): Restartable<Service>;
}

/**
 * Starts a stack without instances.
 *
 * @param options.parent of the temporary directory.
 * @param options.migrate migrates the empty database.
 */
export async function startProxiedStack(
  resources: DisposeStack,
  options: { parent: string | undefined; migrate: (databaseUrl: string) => Promise<unknown> },
): Promise<ProxiedStack> {
  const natsServer = await findNatsServer();
  const directory = resources.use(temporaryDirectory(options.parent)).path;
  const { postgres, natsUrl } = await startBackends(resources, { directory, natsServer });
  await postgres.process.createDatabase('leads');
  const databaseUrl = postgres.process.url('leads');
  await options.migrate(databaseUrl);
  const ports = {
    intake: [await freePort(), await freePort()],
    crm: [await freePort(), await freePort()],
  };
  const proxyOptions = { directory: join(directory, 'nginx'), upstreams: ports };
  const nginx = resources.use(await startProxy('nginx', proxyOptions));
  const env = {
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    JWT_SECRET: jwtSecret,
    TRUST_PROXY: 'loopback',
    LOG_LEVEL: 'warn',
    // The default of the services. startService sets 0.
    SHUTDOWN_DELAY_MS: '3000',
  };
  return {
    directory,
    databaseUrl,
    natsUrl,
    nginx,
    instance(name, slot, root) {
      const port = ports[name][slot] ?? 0;
      const start = () => startService(name, { port, env, ...(root !== undefined && { root }) });
      return resources.use(new Restartable(start));
    },
  };
}
