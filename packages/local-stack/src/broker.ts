import { join } from 'node:path';
import { installedNatsServer } from './processes/find-nats-server.ts';
import { startNats } from './processes/nats-server.ts';

/** The broker of a local run; without a URL there is none, and events wait in the database. */
export interface RunBroker {
  readonly url: string | undefined;
  /** Of a server that was started. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/**
 * Starts a nats-server on a free port, where one is installed and NATS_URL names none.
 *
 * @param natsUrl NATS_URL.
 * @throws Error with what it wrote, when it does not start.
 */
export async function startBroker(dataDir: string, natsUrl: string | undefined): Promise<RunBroker> {
  const binary = natsUrl === undefined ? installedNatsServer() : undefined;
  if (binary === undefined) return { url: natsUrl, pid: undefined, stop: async () => undefined };
  return startNats({ binary, dataDir: join(dataDir, 'nats') });
}
