import { join } from 'node:path';
import { installedNatsServer } from './processes/find-nats-server.ts';
import { startNats } from './processes/nats-server.ts';

/** The NATS broker of a local run. If `url` is undefined, events stay in the database. */
export interface RunBroker {
  readonly url: string | undefined;
  /** The process id of the nats-server that this run started. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/**
 * Starts a nats-server on a free port if one is installed and NATS_URL is not set.
 *
 * @param natsUrl the value of NATS_URL.
 * @throws ProcessStartError with the output of the server if it does not start.
 */
export async function startBroker(dataDir: string, natsUrl: string | undefined): Promise<RunBroker> {
  const binary = natsUrl === undefined ? installedNatsServer() : undefined;
  if (binary === undefined) return { url: natsUrl, pid: undefined, stop: async () => undefined };
  return startNats({ binary, dataDir: join(dataDir, 'nats') });
}
