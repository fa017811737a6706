import { testEventType, testPostbackType } from '../delivery/delivery.schema.ts';
import type { Delivery, DeliveryStore, StoredFailingEndpoint } from '../delivery/delivery-store.ts';
import type { EndpointScope, EndpointState } from '../delivery/endpoint.ts';
import { newId, uuidPattern } from '../uuid.ts';
import type { Database } from './client.ts';
import { hasIncident, isVisiblePostback, isVisibleWebhook } from './delivery-endpoints.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

const deliveryColumns = Prisma.sql`
  id, (SELECT kind FROM delivery_endpoint WHERE id = endpoint_id), (SELECT url FROM delivery_endpoint WHERE id = endpoint_id),
  endpoint_id AS "endpointId", type, lead_id AS "leadId", version, state, attempts,
  next_attempt_at AS "nextAttemptAt", last_attempt_at AS "lastAttemptAt", duration_ms AS "durationMs",
  status_code AS "statusCode", error, answer, skip_reason AS "skipReason", request, created_at AS "createdAt"`;

/** Whether the row of `delivery` is of a visible webhook or postback. */
const isVisible = (scope: EndpointScope) => Prisma.sql`
  workspace_id = ${scope.workspaceId}::uuid AND endpoint_id IN (
    SELECT id FROM delivery_endpoint WHERE ${isVisibleWebhook(scope)} OR ${isVisiblePostback(scope)})`;

/** The new values of a delivery that is sent again. A worker that sends it now ignores the result, as its lease ended. */
const waitingAgain = Prisma.sql`
  state = 'waiting', attempts = 0, next_attempt_at = now(), lease_id = NULL, skip_reason = NULL`;

const toDelivery = (row: object) => withoutNulls(row) as unknown as Delivery;

/**
 * Whether the delivery `newer` overtakes the row of `delivery`: it is of a newer status of the lead, for the same
 * endpoint. One that was skipped because the lead has no `s1` overtakes nothing.
 */
export const overtakes = Prisma.sql`newer.lead_id = delivery.lead_id AND newer.endpoint_id = delivery.endpoint_id
  AND newer.version > delivery.version AND newer.skip_reason IS DISTINCT FROM 'no_s1'`;

/** Creates the store of the deliveries of webhooks and postbacks in Postgres. */
export function createDeliveryStore({ select }: Database): DeliveryStore {
  return {
    async findEndpoint(scope, kind, id) {
      if (!uuidPattern.test(id)) return undefined;
      const condition = kind === 'webhook' ? isVisibleWebhook(scope) : isVisiblePostback(scope);
      const [row] = await select(
        Prisma.sql`
          SELECT id, disabled_at AS "disabledAt" FROM delivery_endpoint WHERE ${condition} AND id = ${id}::uuid`,
        { workspaceId: scope.workspaceId },
      );
      return row && (withoutNulls(row) as Pick<EndpointState, 'id' | 'disabledAt'>);
    },

    async listFailing(scope) {
      const rows = await select(
        Prisma.sql`
          SELECT id, kind, url, description, disabled_reason AS "disabledReason",
            coalesce(disabled_at, failing_since) AS since
          FROM delivery_endpoint WHERE (${isVisibleWebhook(scope)} OR ${isVisiblePostback(scope)}) AND ${hasIncident}
          ORDER BY kind DESC, created_at, id`,
        { workspaceId: scope.workspaceId },
      );
      return rows.map((row) => withoutNulls(row) as unknown as StoredFailingEndpoint);
    },

    async list(scope, { endpointId, state, leadId, statusCode, from, to }, limit, after) {
      const conditions = [isVisible(scope)];
      if (endpointId !== undefined) conditions.push(Prisma.sql`endpoint_id = ${endpointId}::uuid`);
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
        { workspaceId: scope.workspaceId },
      );
      return rows.map(toDelivery);
    },

    async find(scope, id) {
      if (!uuidPattern.test(id)) return undefined;
      const [row] = await select(
        Prisma.sql`SELECT ${deliveryColumns} FROM delivery WHERE ${isVisible(scope)} AND id = ${id}::uuid`,
        { workspaceId: scope.workspaceId },
      );
      return row && toDelivery(row);
    },

    async addTest(workspaceId, kind, endpointId) {
      const type = kind === 'webhook' ? testEventType : testPostbackType;
      const [row] = await select(
        Prisma.sql`
          INSERT INTO delivery (id, workspace_id, endpoint_id, type, state, next_attempt_at)
          VALUES (${newId()}::uuid, ${workspaceId}::uuid, ${endpointId}::uuid, ${type}, 'waiting', now())
          RETURNING ${deliveryColumns}`,
        { workspaceId },
      );
      return toDelivery(row as object);
    },

    async resend(scope, id) {
      if (!uuidPattern.test(id)) return undefined;
      // The hash is that of a delivered request. Without it, a failure is not taken for the last delivered one.
      const [row] = await select(
        Prisma.sql`
          UPDATE delivery SET ${waitingAgain}, is_resent = true, request_hash = NULL
          WHERE ${isVisible(scope)} AND id = ${id}::uuid RETURNING ${deliveryColumns}`,
        { workspaceId: scope.workspaceId },
      );
      return row && toDelivery(row);
    },

    async recover(workspaceId, endpointId, { since, until }, max) {
      const rows = await select(
        Prisma.sql`
          UPDATE delivery SET ${waitingAgain}, is_resent = false WHERE id IN (
            SELECT id FROM delivery WHERE workspace_id = ${workspaceId}::uuid AND endpoint_id = ${endpointId}::uuid
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
