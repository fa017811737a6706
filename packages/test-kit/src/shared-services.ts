import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DisposeStack } from '@leads/core/dispose-stack';
import type { TestDatabase } from '@leads/core/testing/database';
import { startService } from './services.ts';
import { jwtSecret } from './fixture.ts';
import { watchLogs } from './log-check/watch-logs.ts';

/** Both services on one database, for all test files that need no settings of their own. */
export interface SharedServices {
  /** The origins of the services. */
  readonly crm: string;
  readonly intake: string;
  readonly databaseUrl: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** A URL whose response is {@link SharedServices} as JSON. The first request starts the services. */
    sharedServices: string;
  }
}

/** What the process of the global set-up offers to test files, which run in other processes. */
export interface ServiceOffer extends AsyncDisposable {
  readonly url: string;
}

/**
 * Offers both services to all test files. They start once, at the first request, because each start takes seconds of
 * processor time until the code of a service is warm. Disposing stops them. The test run then fails if their log
 * contains confidential data.
 *
 * @param createDatabase creates a database with every migration applied.
 */
export async function offerServices(createDatabase: () => Promise<TestDatabase>): Promise<ServiceOffer> {
  const services = new DisposeStack();
  const confidential: string[] = [];
  const stopWatching = watchLogs((line) => confidential.push(line));
  const start = async (): Promise<SharedServices> => {
    const { url: databaseUrl } = services.use(await createDatabase());
    const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: 'info' };
    const intake = await startService('intake', { env: { ...env, PUBLIC_URL: 'https://leads.example' } });
    services.use(intake);
    // PUBLIC_URL is not set, because the port is known only after the start. Any host name is accepted.
    const settings = {
      JWT_SECRET: jwtSecret,
      INTAKE_URL: intake.url,
      DELIVERIES_SECRET: 'a secret of the deliveries in tests, 32 characters and more',
      DELIVERIES_ALLOW_HTTP: 'true',
      DELIVERIES_ALLOW_NETWORKS: '127.0.0.0/8',
    };
    const crm = services.use(await startService('crm', { env: { ...env, ...settings } }));
    return { crm: crm.url, intake: intake.url, databaseUrl };
  };

  let started: Promise<SharedServices> | undefined;
  const server = createServer((_request, response) => {
    started ??= start();
    started.then(
      (shared) => response.end(JSON.stringify(shared)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await started?.catch(() => undefined);
      await services[Symbol.asyncDispose]();
      stopWatching();
      if (confidential.length === 0) return;
      // Vitest only prints the errors of a global tear-down.
      process.exitCode = 1;
      throw new Error(`Confidential data in log lines of the shared services:\n${confidential.join('\n')}`);
    },
  };
}
