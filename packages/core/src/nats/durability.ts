/** The known facts about how durably a broker stores acknowledged messages. */
export interface BrokerDurability {
  /** The version that the server reports: `2.10.4`. */
  readonly version: string | undefined;
  /** The number of servers of a cluster that store each message, if known. */
  readonly replicas?: number | undefined;
  /** The response of the monitoring endpoint `/varz`, if known. */
  readonly varz?: unknown;
}

/** The first version of nats-server that can sync each message to disk before it acknowledges it. */
const syncsSince = [2, 10] as const;

/**
 * Returns the reasons why the broker may lose acknowledged messages in a power cut, each with its fix.
 *
 * @returns an empty array if there is no known reason.
 */
export function powerCutRisks({ version, replicas, varz }: BrokerDurability): readonly string[] {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const isOld =
    version !== undefined && (major < syncsSince[0] || (major === syncsSince[0] && minor < syncsSince[1]));
  const reasons: string[] = [];
  if (isOld) {
    reasons.push(
      `nats-server ${version} cannot sync messages before it acknowledges them: run 2.10 or newer, with sync_interval: always`,
    );
  } else if (varz !== undefined && !syncsAlways(varz)) {
    reasons.push(
      'nats-server syncs to disk only periodically: set sync_interval: always in its jetstream block',
    );
  }
  if (replicas !== undefined && replicas < 2) {
    reasons.push(
      'each message is stored on one server only: run a cluster of 3 servers, with 3 replicas of the streams',
    );
  }
  return reasons;
}

/** Whether `jetstream.config.sync_always` is set in `/varz`. */
function syncsAlways(varz: unknown): boolean {
  const { jetstream } = varz as { jetstream?: { config?: { sync_always?: boolean } } };
  return jetstream?.config?.sync_always === true;
}
