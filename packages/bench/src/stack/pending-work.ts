import { Broker, eventStreamName } from '@leads/core/nats';
import { query } from './database.ts';
import { waitUntil } from './wait-until.ts';

interface Stores {
  readonly databaseUrl: string;
  readonly natsUrl: string;
}

/**
 * Returns the first reason why leads or events are pending; undefined if none are.
 *
 * @param maxEventAgeMs ignores younger events in the outbox, since some are always pending under load.
 */
export async function pendingWork(
  { databaseUrl, natsUrl }: Stores,
  maxEventAgeMs: number,
): Promise<string | undefined> {
  return (await pendingEvents(databaseUrl, maxEventAgeMs)) ?? (await bufferedLeads(natsUrl));
}

/** Waits until no lead and no event is pending. @returns false after the timeout. */
export function waitUntilDrained(stores: Stores, timeoutMs: number): Promise<boolean> {
  return waitUntil(async () => (await pendingWork(stores, 0)) === undefined, timeoutMs);
}

async function pendingEvents(databaseUrl: string, maxAgeMs: number): Promise<string | undefined> {
  try {
    const [row] = await query<{ waits: boolean }>(
      databaseUrl,
      `SELECT EXISTS (SELECT FROM lead_outbox WHERE created_at <= now() - $1 * interval '1 ms') AS waits`,
      [maxAgeMs],
    );
    return row?.waits === true ? 'events are pending in the outbox' : undefined;
  } catch {
    return 'the database does not respond';
  }
}

/**
 * Returns the reason if leads are buffered. All streams are buffers except the event stream, key-value stores
 * and object stores.
 */
export async function bufferedLeads(natsUrl: string): Promise<string | undefined> {
  await using broker = new Broker({ url: natsUrl, name: 'leads-bench' });
  if (!(await broker.connected(2_000))) return 'NATS does not respond';
  try {
    const manager = await broker.manager();
    for await (const { config, state } of manager.streams.list()) {
      const isBuffer = config.name !== eventStreamName && !/^(?:KV|OBJ)_/.test(config.name);
      if (isBuffer && state.messages > 0) return 'leads are pending in the buffer';
    }
    return undefined;
  } catch {
    return 'NATS does not respond';
  }
}
