import { Broker, powerCutRisks } from '@leads/core/nats';
import type { Logger } from './log.ts';

/** The NATS settings of both services. */
interface BrokerSettings {
  /** If absent, the service runs without NATS. */
  readonly NATS_URL?: string;
  readonly NATS_MONITORING_URL?: string;
}

const monitoringTimeoutMs = 2_000;

/**
 * Opens the connection to NATS, if one is configured. It logs each connect and disconnect. At the first connect, it logs
 * a warning if a power cut could lose acknowledged data.
 *
 * @param options.name the name in the broker's list of connections.
 * @param options.replicas the configured number of stream replicas.
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
        log.warn({ err }, 'NATS is unavailable; retrying');
        return;
      }
      log.info('NATS is connected');
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
  const reasons = powerCutRisks({ version: broker.serverVersion, replicas, varz });
  if (reasons.length > 0) {
    log.warn({ reasons }, 'A power cut could lose data that NATS has acknowledged; see reasons');
  }
}

/** Returns an empty object if the endpoint does not answer. An empty object promises no durability. */
async function askMonitoring(url: string): Promise<unknown> {
  try {
    const response = await fetch(new URL('/varz', url), { signal: AbortSignal.timeout(monitoringTimeoutMs) });
    return await response.json();
  } catch {
    return {};
  }
}
