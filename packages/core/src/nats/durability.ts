/** What is known of how a broker keeps what it has acknowledged. */
export interface BrokerDurability {
  /** As the server tells it: `2.10.4`. */
  readonly version: string | undefined;
  /** How many servers of a cluster keep each message, where that is known. */
  readonly replicas?: number | undefined;
  /** Its monitoring endpoint's `/varz`, where it is known. */
  readonly varz?: unknown;
}

/** Before it no server can be told to sync what it acknowledges. */
const syncsSince = [2, 10] as const;

/**
 * Why a power cut may take what the broker has acknowledged, and what to do about it, as far as can be known.
 *
 * @returns nothing where there is no reason to think so.
 */
export function lossByPowerCut({ version, replicas, varz }: BrokerDurability): readonly string[] {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const isOld =
    version !== undefined && (major < syncsSince[0] || (major === syncsSince[0] && minor < syncsSince[1]));
  const reasons: string[] = [];
  if (isOld) {
    reasons.push(
      `nats-server ${version} cannot sync what it acknowledges: run 2.10 or newer, with sync_interval: always`,
    );
  } else if (varz !== undefined && !syncsAlways(varz)) {
    reasons.push(
      'nats-server syncs to disk only now and then: set sync_interval: always in its jetstream block',
    );
  }
  if (replicas !== undefined && replicas < 2) {
    reasons.push('one server keeps each message: run three as a cluster, with 3 replicas of the streams');
  }
  return reasons;
}

/** `/varz` has it as `jetstream.config.sync_always`. */
function syncsAlways(varz: unknown): boolean {
  const { jetstream } = varz as { jetstream?: { config?: { sync_always?: boolean } } };
  return jetstream?.config?.sync_always === true;
}
