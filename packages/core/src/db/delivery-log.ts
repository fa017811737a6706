import type { Delivery, WebhookStore } from '../delivery/webhook-store.ts';
import { newId } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

export const deliveryColumns = Prisma.sql`
  id, endpoint_id AS "webhookId", type, lead_id AS "leadId", version, state, attempts,
  next_attempt_at AS "nextAttemptAt", last_attempt_at AS "lastAttemptAt", duration_ms AS "durationMs",
  status_code AS "statusCode", error, answer, skip_reason AS "skipReason", request, created_at AS "createdAt"`;

/** The new values of a delivery that is sent again. A worker that sends it now ignores the result, as its lease ended. */
export const waitingAgain = Prisma.sql`
  state = 'waiting', attempts = 0, next_attempt_at = now(), lease_id = NULL, skip_reason = NULL`;

export const toDelivery = (row: object) => withoutNulls(row) as unknown as Delivery;

/**
 * Whether the delivery `newer` overtakes the row of `delivery`: it is of a newer status of the lead, for the same
 * endpoint. One that was skipped because the lead has no `s1` overtakes nothing.
 */
export const overtakes = Prisma.sql`newer.lead_id = delivery.lead_id AND newer.endpoint_id = delivery.endpoint_id
  AND newer.version > delivery.version AND newer.skip_reason IS DISTINCT FROM 'no_s1'`;

/** Creates the part of a store that webhooks and postbacks share. */
export function createDeliveryLog(
  { select }: Database,
  testType: string,
): Pick<WebhookStore, 'findCampaigns' | 'listDeliveries' | 'addTest' | 'recover'> {
  return {
    async findCampaigns(workspaceId, codes) {
      const rows = await select<{ id: string; code: string }>(
        Prisma.sql`
          SELECT id, code FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND code = ANY (${[...codes]}::text[])`,
        { workspaceId },
      );
      return new Map(rows.map(({ id, code }) => [code, id]));
    },

    async listDeliveries(workspaceId, { webhookId, state, leadId, statusCode, from, to }, limit, after) {
      const conditions = [
        Prisma.sql`workspace_id = ${workspaceId}::uuid AND endpoint_id = ${webhookId}::uuid`,
      ];
      if (state !== undefined) conditions.push(Prisma.sql`state = ${state}`);
      if (leadId !== undefined) conditions.push(Prisma.sql`lead_id = ${leadId}::uuid`);
      if (statusCode !== undefined) conditions.push(Prisma.sql`status_code = ${statusCode}::int`);
      if (from !== undefined) conditions.push(Prisma.sql`created_at >= ${from.toISOString()}::timestamptz`);
      if (to !== undefined) conditions.push(Prisma.sql`created_at < ${to.toISOString()}::timestamptz`);
      if (after !== undefined) {
        conditions.push(
          Prisma.sql`(created_at, id) < (${after.createdAt.toISOString()}::timestamptz, ${after.id}::uuid)`,
        );
      }
      const rows = await select(
        Prisma.sql`
          SELECT ${deliveryColumns} FROM delivery WHERE ${Prisma.join(conditions, ' AND ')}
          ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
        { workspaceId },
      );
      return rows.map(toDelivery);
    },

    async addTest(workspaceId, webhookId) {
      const [row] = await select(
        Prisma.sql`
          INSERT INTO delivery (id, workspace_id, endpoint_id, type, state, next_attempt_at)
          VALUES (${newId()}::uuid, ${workspaceId}::uuid, ${webhookId}::uuid, ${testType}, 'waiting', now())
          RETURNING ${deliveryColumns}`,
        { workspaceId },
      );
      return toDelivery(row as object);
    },

    async recover(workspaceId, webhookId, { since, until }, max) {
      const rows = await select(
        Prisma.sql`
          UPDATE delivery SET ${waitingAgain} WHERE id IN (
            SELECT id FROM delivery WHERE workspace_id = ${workspaceId}::uuid AND endpoint_id = ${webhookId}::uuid
              AND (state = 'failed' OR (state = 'skipped' AND skip_reason IS NULL))
              AND NOT EXISTS (
                SELECT FROM delivery AS newer JOIN delivery_endpoint AS endpoint ON endpoint.id = newer.endpoint_id
                WHERE endpoint.kind = 'postback' AND ${overtakes})
              AND created_at >= ${since.toISOString()}::timestamptz
              AND created_at < ${until.toISOString()}::timestamptz
            LIMIT ${max} FOR UPDATE
          ) RETURNING id`,
        { workspaceId },
      );
      return rows.length;
    },
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
