import { Broker, type BrokerOptions } from '@leads/core/broker';
import type { Logger } from './log.ts';

/** A connection to NATS that says in the log when it comes and when it goes. */
export function openBroker(options: Omit<BrokerOptions, 'onChange'>, log: Logger): Broker {
  return new Broker({
    ...options,
    onChange(isConnected, err) {
      if (isConnected) log.info('NATS is there');
      else log.warn({ err }, 'NATS is away: it is tried again until it is back');
    },
  });
}
