import { Broker, lossByPowerCut } from '@leads/core/nats';
import type { Logger } from './log.ts';

/** Where the broker is: settings of both services. */
interface BrokerSettings {
  /** Without it there is no broker. */
  readonly NATS_URL?: string;
  readonly NATS_MONITORING_URL?: string;
}

const monitoringTimeoutMs = 2_000;

/**
 * A connection to NATS, where there is one, that says in the log when it comes and when it goes, and once, at its first
 * coming, where a power cut could take what the broker has acknowledged.
 *
 * @param options.name shown in the broker's list of connections.
 * @param options.replicas how many servers of a cluster are to keep each message.
 */
export function openBroker(
  { NATS_URL: url, NATS_MONITORING_URL: monitoringUrl }: BrokerSettings,
  { name, replicas }: { readonly name: string; readonly replicas: number },
  log: Logger,
): Broker | undefined {
  if (url === undefined) return undefined;
  let isChecked = false;
  const broker: Broker = new Broker({
    url,
    name,
    onChange(isConnected, err) {
      if (!isConnected) {
        log.warn({ err }, 'NATS is away: it is tried again until it is back');
        return;
      }
      log.info('NATS is there');
      if (isChecked) return;
      isChecked = true;
      void warnOfLoss(broker, { monitoringUrl, replicas }, log);
    },
  });
  return broker;
}

async function warnOfLoss(
  broker: Broker,
  { monitoringUrl, replicas }: { monitoringUrl: string | undefined; replicas: number },
  log: Logger,
): Promise<void> {
  const varz = monitoringUrl === undefined ? undefined : await askMonitoring(monitoringUrl);
  const reasons = lossByPowerCut({ version: broker.serverVersion, replicas, varz });
  if (reasons.length > 0) {
    log.warn({ reasons }, 'A power cut could take what NATS has acknowledged: see what to do in reasons');
  }
}

/** @returns an empty object, which promises nothing, where it does not answer. */
async function askMonitoring(url: string): Promise<unknown> {
  try {
    const response = await fetch(new URL('/varz', url), { signal: AbortSignal.timeout(monitoringTimeoutMs) });
    return await response.json();
  } catch {
    return {};
  }
}
