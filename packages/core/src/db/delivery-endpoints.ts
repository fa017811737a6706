import { ratedDeliveries } from '../delivery/endpoint.schema.ts';
import type { EndpointScope } from '../delivery/endpoint.ts';
import type { WebhookStore } from '../delivery/webhook-store.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';

/**
 * The columns of the state of a webhook or a postback, for queries of `delivery_endpoint`. A delivery in progress has the
 * end of its lease in place of its next attempt, so it counts only if that has passed.
 */
export const endpointStateColumns = Prisma.sql`
  id, disabled_at AS "disabledAt", disabled_reason AS "disabledReason", failures, failing_since AS "failingSince",
  last_success_at AS "lastSuccessAt", (
    SELECT count(*) FILTER (WHERE state = 'delivered') / nullif(count(*), 0)::float8 FROM (
      SELECT state, last_attempt_at FROM delivery WHERE endpoint_id = delivery_endpoint.id
      ORDER BY delivery.created_at DESC, delivery.id DESC LIMIT ${ratedDeliveries}
    ) AS newest WHERE last_attempt_at IS NOT NULL
  ) AS "successRate", (
    SELECT min(next_attempt_at) FROM delivery
    WHERE endpoint_id = delivery_endpoint.id AND state = 'waiting' AND (lease_id IS NULL OR next_attempt_at <= now())
  ) AS "nextAttemptAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Whether a row of `delivery_endpoint` is a postback that is visible. */
export const isVisiblePostback = ({ workspaceId, userId, isManager }: EndpointScope) => Prisma.sql`
  (kind = 'postback' AND workspace_id = ${workspaceId}::uuid AND deleted_at IS NULL AND (
    (user_id IS NULL AND ${isManager}) OR ${userId === undefined ? Prisma.sql`user_id IS NOT NULL` : Prisma.sql`user_id = ${userId}::uuid`}))`;

/** Whether a row of `delivery_endpoint` is a webhook that is visible. */
export const isVisibleWebhook = ({ workspaceId, isManager }: Omit<EndpointScope, 'userId'>) => Prisma.sql`
  (kind = 'webhook' AND workspace_id = ${workspaceId}::uuid AND deleted_at IS NULL AND ${isManager})`;

/** The time without a success after which members get a notice about an endpoint. */
const noticeAfter = '24 hours';

/** Whether the members that manage a row of `delivery_endpoint` should know that it fails or was disabled. */
export const hasIncident = Prisma.sql`
  (deleted_at IS NULL AND CASE WHEN disabled_at IS NULL THEN failing_since <= now() - ${noticeAfter}::interval
    ELSE disabled_reason <> 'user' END)`;

/** Returns the function of a store that finds campaigns. */
export function createFindCampaigns({ select }: Pick<Database, 'select'>): WebhookStore['findCampaigns'] {
  return async (workspaceId, codes) => {
    const rows = await select<{ id: string; code: string }>(
      Prisma.sql`
        SELECT id, code FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND code = ANY (${[...codes]}::text[])`,
      { workspaceId },
    );
    return new Map(rows.map(({ id, code }) => [code, id]));
  };
}

/** Skips what still waits from before an endpoint was disabled, so that enabling it sends only new events. */
export async function skipWaiting(tx: Transaction, workspaceId: string, id: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE delivery SET state = 'skipped', next_attempt_at = NULL, lease_id = NULL
    FROM delivery_endpoint AS endpoint
    WHERE endpoint.id = ${id}::uuid AND endpoint.workspace_id = ${workspaceId}::uuid
      AND endpoint.disabled_at IS NOT NULL AND delivery.endpoint_id = endpoint.id AND delivery.state = 'waiting'`;
}

/** Returns the assignments that enable or disable an endpoint; none without a value. */
export function enabling(enabled: boolean | undefined): Prisma.Sql[] {
  if (enabled === true) {
    return [
      Prisma.sql`
      enabled_at = CASE WHEN disabled_at IS NULL THEN enabled_at ELSE now() END,
      failures = CASE WHEN disabled_at IS NULL THEN failures ELSE 0 END,
      failing_since = CASE WHEN disabled_at IS NULL THEN failing_since END,
      disabled_at = NULL, disabled_reason = NULL`,
    ];
  }
  if (enabled === false) {
    return [
      Prisma.sql`
      disabled_at = coalesce(disabled_at, now()), disabled_reason = coalesce(disabled_reason, 'user')`,
    ];
  }
  return [];
}
