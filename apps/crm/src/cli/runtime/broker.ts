import type { Broker } from '@leads/core/nats';
import { BrokerUnreachable } from './cli-error.ts';

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

/** Returns the hosts and ports of a NATS URL, without the passwords. */
export function brokerAddress(url: string): string {
  return url
    .split(',')
    .map((server) => new URL(server.trim()).host)
    .join(', ');
}
