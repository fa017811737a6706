import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@leads/core/db-admin/migrate';
import { Broker, eventStreamName } from '@leads/core/nats';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { type Service, startService } from '@leads/local-stack/processes/services';
import { type ProxyTap, startTcpProxy, type TcpProxy } from '@leads/local-stack/processes/tcp-proxy';
import pg from 'pg';
import { createOwner } from '../intake/service.ts';
import { issueCredentials, jwtSecret } from '../list/crm-process.ts';
import { Part } from './part.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

const migrationsDir = resolve(import.meta.dirname, '../../../prisma/migrations');
export const databaseName = 'faults';

/** What a drill's stack is made of, beside the usual. */
export interface StackOptions {
  /** Instances of the CRM, each with a relay; default 1. */
  readonly relays?: number;
  /** Servers of NATS; default 1. With more they are a cluster, and streams have that many replicas. */
  readonly natsServers?: number;
  /** The services reach Postgres through a proxy, which looks at each connection with one of these where it is said. */
  readonly proxy?: { readonly tap?: () => ProxyTap };
  /** More settings of the intake. */
  readonly intakeSettings?: Readonly<Record<string, string>>;
  /** Postgres gets a disk of its own, of this size. */
  readonly postgresMegabytes?: number;
}

/** Everything of one drill as real processes on 127.0.0.1, each of which can be killed and started again. */
export interface FaultStack extends AsyncDisposable {
  readonly directory: string;
  readonly postgresDataDir: string;
  readonly postgres: Part<LocalPostgres>;
  /** Where it was asked for. */
  readonly postgresDisk: SmallDisk | undefined;
  readonly nats: readonly Part<LocalNats>[];
  readonly intake: Part<Service>;
  readonly relays: readonly Part<Service>[];
  /** Between the intake and Postgres, where one was asked for: else it leads nowhere. */
  readonly proxy: TcpProxy;
  readonly intakePort: number;
  readonly natsUrl: string;
  /** Of the checker's own way to the database, past any proxy; a promoted replica has another. */
  databaseUrl: string;
  /** Of a member who may do everything: `API_KEY` and `Authorization`. */
  readonly credentials: Readonly<Record<'API_KEY' | 'Authorization', string>>;
  /**
   * Ends something with the stack.
   *
   * @throws Error where that has ended.
   */
  own<Started extends AsyncDisposable>(one: Started): Started;
  /**
   * What is not level yet, nothing where all is: services that are not ready, events and buffered leads that wait.
   *
   * @param eventsMayWaitMs events that wait for less are no reason; under load there are always some.
   */
  unsettled(eventsMayWaitMs: number): Promise<string | undefined>;
}

/**
 * @param options.parent where the data lies meanwhile; a temporary place without it.
 * @param options.stop keeps it from being started to the end.
 */
export async function startStack(
  options: StackOptions & {
    parent: string | undefined;
    natsServer: string;
    syncAlways: boolean;
    stop: AbortSignal;
  },
): Promise<FaultStack> {
  const { stop } = options;
  const started: AsyncDisposable[] = [];
  let isOver = false;
  const own = <Started extends AsyncDisposable>(one: Started): Started => {
    if (isOver) throw new Error('The stack has ended');
    started.push(one);
    return one;
  };
  const end = async () => {
    isOver = true;
    const failures: unknown[] = [];
    // The directory, in which all of them write, is the last.
    for (const one of started.splice(0).toReversed()) {
      try {
        await one[Symbol.asyncDispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    stop.throwIfAborted();
    const { path: directory } = own(makeDirectory(options.parent));
    const postgresPort = await freePort();
    const { postgresMegabytes } = options;
    const postgresDisk = postgresMegabytes === undefined ? undefined : own(mountSmallDisk(postgresMegabytes));
    const dataDir = join(postgresDisk?.path ?? directory, 'postgres');
    const postgres = own(new Part(() => startPostgres({ dataDir, port: postgresPort })));
    const nats = (await natsParts(directory, options)).map(own);
    await Promise.all([postgres, ...nats].map((server) => server.start()));
    stop.throwIfAborted();
    await postgres.process.createDatabase(databaseName);
    const databaseUrl = postgres.process.url(databaseName);
    await migrate({ databaseUrl, migrationsDir });
    const credentials = await issueCredentials(databaseUrl, await createOwner(databaseUrl));
    stop.throwIfAborted();
    const natsUrl = nats.map((server) => server.process.url).join();

    const proxy = own(await startTcpProxy({ port: postgresPort, ...options.proxy }));
    const url = new URL(databaseUrl);
    if (options.proxy !== undefined) url.port = String(proxy.port);
    const env = { DATABASE_URL: url.href, NATS_URL: natsUrl, LOG_LEVEL: 'warn' };
    const intakePort = await freePort();
    const intakeEnv = { ...env, INTAKE_BUFFER_REPLICAS: String(nats.length), ...options.intakeSettings };
    const intake = own(new Part(() => startService('intake', { port: intakePort, env: intakeEnv })));
    const relayEnv = { ...env, JWT_SECRET: jwtSecret, EVENTS_STREAM_REPLICAS: String(nats.length) };
    const relays: Part<Service>[] = [];
    for (let index = 0; index < (options.relays ?? 1); index++) {
      const port = await freePort();
      relays.push(own(new Part(() => startService('crm', { port, env: relayEnv }))));
    }
    await Promise.all([intake, ...relays].map((service) => service.start()));
    const stack: FaultStack = {
      directory,
      postgresDataDir: dataDir,
      postgres,
      postgresDisk,
      nats,
      intake,
      relays,
      proxy,
      intakePort,
      natsUrl,
      databaseUrl,
      credentials,
      own,
      async unsettled(eventsMayWaitMs) {
        for (const service of [intake, ...relays]) {
          if (!service.isThere || (await readiness(service.process.url)) !== 200)
            return 'a service is not ready';
        }
        return waiting(stack, eventsMayWaitMs);
      },
      [Symbol.asyncDispose]: end,
    };
    return stack;
  } catch (error) {
    await end();
    throw error;
  }
}

/** A directory for data, which goes with its owner. */
export function makeDirectory(parent: string | undefined): AsyncDisposable & { path: string } {
  if (parent !== undefined) mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(resolve(parent ?? tmpdir()), 'leads-faults-'));
  // The account that Postgres runs as has to get through to its data.
  chmodSync(path, 0o711);
  const removal = { recursive: true, force: true, maxRetries: 15 };
  // Also where it is not waited for that all have ended.
  const removeNow = () => rmSync(path, removal);
  process.once('exit', removeNow);
  return {
    path,
    async [Symbol.asyncDispose]() {
      // The processes of a Postgres that was killed write on until they notice.
      await rm(path, removal);
      process.off('exit', removeNow);
    },
  };
}

async function natsParts(
  directory: string,
  {
    natsServer: binary,
    natsServers = 1,
    syncAlways,
  }: { natsServer: string; natsServers?: number; syncAlways: boolean },
): Promise<Part<LocalNats>[]> {
  const members = await Promise.all(
    Array.from({ length: natsServers }, async () => ({ port: await freePort(), route: await freePort() })),
  );
  const routes = members.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
  return members.map(({ port, route }, index) => {
    const settings =
      natsServers === 1
        ? undefined
        : `cluster { name: "faults", listen: "127.0.0.1:${route}", routes: [${routes}] }`;
    const dataDir = join(directory, `nats-${index}`);
    return new Part(() => startNats({ binary, port, settings, syncAlways, dataDir }));
  });
}

/** What waits to be told or stored, if anything does. */
export async function waiting(
  { databaseUrl, natsUrl }: { databaseUrl: string; natsUrl: string },
  eventsMayWaitMs: number,
): Promise<string | undefined> {
  return (await waitingEvents(databaseUrl, eventsMayWaitMs)) ?? (await bufferedLeads(natsUrl));
}

/** What a service says of whether it is ready: 200 or 503; nothing where it does not answer. */
export async function readiness(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

async function waitingEvents(databaseUrl: string, mayWaitMs: number): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ waits: boolean }>(
      `SELECT EXISTS (SELECT FROM lead_outbox WHERE created_at <= now() - $1 * interval '1 ms') AS waits`,
      [mayWaitMs],
    );
    return rows[0]?.waits === true ? 'events wait in the outbox' : undefined;
  } catch {
    return 'the database does not answer';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Every other stream than that of events is one of leads that wait to be stored; but for those behind buckets. */
export async function bufferedLeads(natsUrl: string): Promise<string | undefined> {
  await using broker = new Broker({ url: natsUrl, name: 'leads-bench' });
  if (!(await broker.connected(2_000))) return 'NATS does not answer';
  try {
    const manager = await broker.manager();
    for await (const { config, state } of manager.streams.list()) {
      if (config.name !== eventStreamName && !/^(?:KV|OBJ)_/.test(config.name) && state.messages > 0)
        return 'leads wait in the buffer';
    }
    return undefined;
  } catch {
    return 'NATS does not answer';
  }
}

/**
 * Waits until all is level.
 *
 * @returns whether it is, at the end of the time at the latest.
 */
export async function settles(
  stack: Pick<FaultStack, 'unsettled'>,
  { eventsMayWaitMs, timeoutMs }: { eventsMayWaitMs: number; timeoutMs: number },
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while ((await stack.unsettled(eventsMayWaitMs)) !== undefined) {
    if (performance.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}
