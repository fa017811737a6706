import { query } from '../stack/database.ts';
import { startReceivers } from '../stack/receivers.ts';
import { addWebhooks } from '../stack/webhooks.ts';

/** The deliveries of all events to their webhooks. */
export interface DeliveryVerification {
  /** The events that the webhooks subscribe to, for each webhook. */
  readonly deliveries: number;
  readonly missingDeliveries: number;
  /** Further requests with the same `webhook-id`. */
  readonly repeatedDeliveries: number;
}

/** An event of a lead. Status changes have the new status. */
interface StoredEvent {
  readonly id: string;
  readonly toStatus: string | null;
}

/** The subscriptions of the webhooks of a drill. */
const subscriptions = [
  { webhook: {}, wants: () => true },
  {
    webhook: { events: ['lead.status_changed' as const], statuses: ['Approved' as const] },
    wants: ({ toStatus }: StoredEvent) => toStatus === 'Approved',
  },
];

/** The receivers of the webhooks of a drill. */
export interface DrillReceivers extends AsyncDisposable {
  /** Returns how often each event has arrived, by `webhook-id`, for each receiver. */
  countRequests(): Promise<readonly ReadonlyMap<string, number>[]>;
}

/** Starts a receiver for each webhook, and creates the webhooks in the only workspace. */
export async function startDrillReceivers(databaseUrl: string): Promise<DrillReceivers> {
  const receivers = await startReceivers(subscriptions.map(() => ({ status: 204, delayMs: 20 })));
  const [workspace] = await query<{ id: string }>(databaseUrl, 'SELECT id FROM workspace');
  await addWebhooks(
    databaseUrl,
    workspace?.id ?? '',
    subscriptions.map(({ webhook }, at) => Object.assign({ url: receivers.urls[at] ?? '' }, webhook)),
  );
  const counts = subscriptions.map(() => new Map<string, number>());
  return {
    async countRequests() {
      for (const [at, { requests }] of (await receivers.take()).entries()) {
        for (const [id, count] of requests) counts[at]?.set(id, (counts[at].get(id) ?? 0) + count);
      }
      return counts;
    },
    [Symbol.asyncDispose]: () => receivers[Symbol.asyncDispose](),
  };
}

/** Returns whether no event and no delivery waits. */
export async function hasNoDeliveries(databaseUrl: string): Promise<boolean> {
  const [row] = await query<{ isEmpty: boolean }>(
    databaseUrl,
    `SELECT NOT EXISTS (SELECT FROM delivery_outbox)
      AND NOT EXISTS (SELECT FROM delivery WHERE state = 'waiting') AS "isEmpty"`,
  );
  return row?.isEmpty === true;
}

/** Makes the deliveries of killed processes due, which would otherwise wait for the end of their leases. */
export async function endLeases(databaseUrl: string): Promise<void> {
  await query(databaseUrl, 'UPDATE delivery SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
}

/** Compares what has arrived at the receivers with the histories of all leads of the workspace with webhooks. */
export async function verifyDeliveries(
  receivers: DrillReceivers,
  databaseUrl: string,
): Promise<DeliveryVerification> {
  const events = await query<StoredEvent>(
    databaseUrl,
    `SELECT 'evt_' || lead.id || '_' || each.version AS id, to_status AS "toStatus"
    FROM lead CROSS JOIN LATERAL generate_series(1, lead.version) AS each (version)
    LEFT JOIN lead_change ON lead_id = lead.id AND lead_change.version = each.version
    WHERE lead.workspace_id IN (SELECT workspace_id FROM delivery_endpoint)`,
  );
  const received = await receivers.countRequests();
  let [deliveries, missingDeliveries, repeatedDeliveries] = [0, 0, 0];
  for (const [at, { wants }] of subscriptions.entries()) {
    for (const { id } of events.filter(wants)) {
      const requests = received[at]?.get(id) ?? 0;
      deliveries += 1;
      if (requests === 0) missingDeliveries += 1;
      else repeatedDeliveries += requests - 1;
    }
  }
  return { deliveries, missingDeliveries, repeatedDeliveries };
}
