import type { DisposeStack } from '@leads/core/dispose-stack';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type Service, startService } from '@leads/local-stack/processes/services';
import { type ProxyTap, startTcpProxy, type TcpProxy } from '@leads/local-stack/processes/tcp-proxy';
import { type Backends, startBackends } from '../stack/backends.ts';
import { type Credentials, createOwner, jwtSecret } from '../stack/credentials.ts';
import { createMigratedDatabase } from '../stack/database.ts';
import { pendingWork } from '../stack/pending-work.ts';
import { readiness } from '../stack/programs.ts';
import { Restartable } from '../stack/restartable.ts';
import { deliverySettings } from '../stack/webhooks.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { type DrillReceivers, startDrillReceivers } from './webhooks.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

export const databaseName = 'faults';

/** The differences of a scenario's stack from the default. */
export interface StackOptions {
  /** Instances of the CRM, each with a relay. Default: 1. */
  readonly relays?: number;
  /**
   * The number of NATS servers. Default: 1. Several servers form a cluster, and each stream has that many
   * replicas.
   */
  readonly natsServers?: number;
  /** Places a proxy between the services and Postgres, with an optional tap for each connection. */
  readonly proxy?: { readonly tap?: () => ProxyTap };
  /** More settings of the intake. */
  readonly intakeSettings?: Readonly<Record<string, string>>;
  /** Starts receivers of webhooks, which get the events of all leads. */
  readonly webhooks?: boolean;
  /** The size of a disk for Postgres alone. */
  readonly postgresMegabytes?: number;
}

/** Returns whether scenarios with these options can share a stack. */
export function canShareStack(a: StackOptions = {}, b: StackOptions = {}): boolean {
  const isSpecial = ({ natsServers, intakeSettings, postgresMegabytes }: StackOptions) =>
    natsServers !== undefined || intakeSettings !== undefined || postgresMegabytes !== undefined;
  if (isSpecial(a) || isSpecial(b)) return false;
  // A proxy accepts connections while Postgres is down.
  return (a.proxy === undefined) === (b.proxy === undefined);
}

/** Returns the options of a stack that several scenarios share, of which at most one taps connections. */
export function mergeStackOptions(options: readonly StackOptions[]): StackOptions {
  const proxies = options.flatMap(({ proxy }) => proxy ?? []);
  return {
    ...Object.assign({}, ...options),
    relays: Math.max(...options.map(({ relays = 1 }) => relays)),
    webhooks: options.some(({ webhooks }) => webhooks === true),
    ...(proxies.length > 0 && { proxy: proxies.find(({ tap }) => tap !== undefined) ?? {} }),
  };
}

/** The options that all scenarios of a run share. */
export interface CommonOptions {
  /** The parent of the temporary directory. */
  readonly parent: string | undefined;
  readonly natsServer: string;
  readonly syncAlways: boolean;
  readonly stop: AbortSignal;
}

/** The real processes of a drill on 127.0.0.1. Each can be killed and started again. */
export interface DrillStack extends Backends {
  readonly resources: DisposeStack;
  readonly directory: string;
  readonly postgresDisk: SmallDisk | undefined;
  readonly intake: Restartable<Service>;
  readonly relays: readonly Restartable<Service>[];
  /** The proxy between the services and Postgres. It is used only if the scenario requests one. */
  readonly proxy: TcpProxy;
  readonly intakePort: number;
  /** A connection string that bypasses the proxy. It changes when a replica is promoted. */
  databaseUrl: string;
  readonly credentials: Credentials;
  /** The receivers of the webhooks, if the scenario has some. */
  readonly receivers: DrillReceivers | undefined;
  /**
   * Returns why the stack has not recovered: a service is not ready, or events or buffered leads wait. Undefined when it
   * has recovered.
   *
   * @param maxEventAgeMs younger events are no reason: under load there are always some.
   */
  notRecovered(maxEventAgeMs: number): Promise<string | undefined>;
}

/**
 * Starts a stack. It throws between two steps after the signal aborts; `resources` disposes of the started
 * parts.
 */
export async function startDrillStack(
  resources: DisposeStack,
  options: StackOptions & CommonOptions,
): Promise<DrillStack> {
  const { stop, natsServer, natsServers, syncAlways, postgresMegabytes } = options;
  stop.throwIfAborted();
  const directory = resources.use(temporaryDirectory(options.parent)).path;
  const postgresDisk =
    postgresMegabytes === undefined ? undefined : resources.use(mountSmallDisk(postgresMegabytes));
  const backends = await startBackends(resources, {
    directory,
    postgresDirectory: postgresDisk?.path,
    natsServer,
    natsServers,
    syncAlways,
  });
  const { postgres, nats, natsUrl } = backends;
  stop.throwIfAborted();
  const databaseUrl = await createMigratedDatabase(postgres.process, databaseName);
  const credentials = await createOwner(databaseUrl);
  const receivers =
    options.webhooks === true ? resources.use(await startDrillReceivers(databaseUrl)) : undefined;
  stop.throwIfAborted();

  const proxy = resources.use(await startTcpProxy({ port: postgres.process.port, ...options.proxy }));
  const serviceUrl = new URL(databaseUrl);
  if (options.proxy !== undefined) serviceUrl.port = String(proxy.port);
  const env = { DATABASE_URL: serviceUrl.href, NATS_URL: natsUrl, LOG_LEVEL: 'warn' };
  const replicas = String(nats.length);
  const intakePort = await freePort();
  const intakeEnv = { ...env, INTAKE_BUFFER_REPLICAS: replicas, ...options.intakeSettings };
  const intake = resources.use(
    new Restartable(() => startService('intake', { port: intakePort, env: intakeEnv })),
  );
  const relayEnv = { ...env, JWT_SECRET: jwtSecret, EVENTS_STREAM_REPLICAS: replicas, ...deliverySettings };
  const relays: Restartable<Service>[] = [];
  for (let index = 0; index < (options.relays ?? 1); index++) {
    const port = await freePort();
    relays.push(resources.use(new Restartable(() => startService('crm', { port, env: relayEnv }))));
  }
  await Promise.all([intake, ...relays].map((service) => service.start()));
  const stack: DrillStack = {
    ...backends,
    resources,
    directory,
    postgresDisk,
    intake,
    relays,
    proxy,
    intakePort,
    databaseUrl,
    credentials,
    receivers,
    async notRecovered(maxEventAgeMs) {
      for (const service of [intake, ...relays]) {
        const isReady = service.isRunning && (await readiness(service.process.url)) === 200;
        if (!isReady) return 'a service is not ready';
      }
      return pendingWork(stack, maxEventAgeMs);
    },
  };
  return stack;
}
