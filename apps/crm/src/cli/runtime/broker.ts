import type { Broker } from '@leads/core/nats';
import { BrokerUnreachable } from './cli-error.ts';

interface ConnectOptions {
  /** How long to wait for the first connection. Later the broker reconnects by itself, without a limit. */
  readonly timeoutMs?: number;
  /** Ends the wait for the first connection. The broker is then returned without a connection. */
  readonly signal?: AbortSignal;
  /** Called for each change after the first connection. */
  readonly onChange?: (isConnected: boolean) => void;
}

/**
 * Connects to NATS.
 *
 * @throws BrokerUnreachable after `timeoutMs`.
 */
export async function openBroker(url: string, options: ConnectOptions = {}): Promise<Broker> {
  const { timeoutMs = 10_000, signal, onChange } = options;
  // Loaded on demand: most commands do not need it.
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
    throw new BrokerUnreachable(reason instanceof Error ? reason.message : '', { cause: reason });
  }
  return broker;
}
