import { DatabaseError } from '@leads/core/db';
import { isOutage } from '@leads/core/errors';
import type { Broker } from '@leads/core/nats';
import { BrokerUnreachable } from './cli-error.ts';

/** The message of the NATS client if JetStream is disabled, or has no leader. */
export const noResponders = '503';

interface ConnectOptions {
  /** The maximum time for the first connection. After it, the broker reconnects automatically, without a time limit. */
  readonly timeoutMs?: number;
  /** Ends the wait for the first connection. The function then returns an unconnected broker. */
  readonly signal?: AbortSignal;
  /** Called for each loss and restoration of the connection after the first connection. */
  readonly onChange?: (isConnected: boolean) => void;
}

/**
 * Connects to NATS.
 *
 * @throws BrokerUnreachable if there is no connection after `timeoutMs`.
 */
export async function openBroker(url: string, options: ConnectOptions = {}): Promise<Broker> {
  const { timeoutMs = 10_000, signal, onChange } = options;
  // Loaded on demand, because most commands do not need the NATS client.
  const { Broker } = await import('@leads/core/nats');
  let reason: unknown;
  let wasConnected = false;
  const broker = new Broker({
    url,
    name: 'leads-cli',
    onChange(isConnected, why) {
      reason = why;
      if (wasConnected) onChange?.(isConnected);
      wasConnected ||= isConnected;
    },
  });
  const deadline = performance.now() + timeoutMs;
  while (!(await broker.connected(100)) && signal?.aborted !== true) {
    if (performance.now() < deadline) continue;
    await broker[Symbol.asyncDispose]();
    const message = reason instanceof Error ? reason.message : '';
    throw new BrokerUnreachable(brokerAddress(url), message, { cause: reason });
  }
  return broker;
}

/**
 * Turns an outage into BrokerUnreachable, unless it is an outage of the database. Returns any other error unchanged.
 *
 * @param url the servers that the command uses.
 */
export function describeBrokerOutage(error: unknown, url: string): unknown {
  if (!isOutage(error) || error.cause instanceof DatabaseError) return error;
  return new BrokerUnreachable(brokerAddress(url), brokerOutageReason(error), { cause: error });
}

/** Returns the reason of an outage of NATS, or an empty text if it is unknown. */
export function brokerOutageReason({ cause }: Error): string {
  const reason = cause instanceof Error ? cause.message : '';
  return reason === noResponders ? 'JetStream does not answer' : reason;
}

/** Returns the hosts and ports of a NATS URL, without the passwords. */
export function brokerAddress(url: string): string {
  return url
    .split(',')
    .map((server) => new URL(server.trim()).host)
    .join(', ');
}
