import { rolesWith } from '../credential/roles.ts';
import type { DeliveryNotice, DeliveryNotices } from '../delivery/delivery-notices.ts';
import { newId } from '../uuid.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

/** Limits a statement to notices whose lease still holds. */
const leased = (notices: readonly DeliveryNotice[]) => Prisma.sql`
  (endpoint_id, user_id, lease_id) IN (SELECT * FROM unnest(
    ${notices.map(({ endpointId }) => endpointId)}::uuid[], ${notices.map(({ userId }) => userId)}::uuid[],
    ${notices.map(({ leaseId }) => leaseId)}::uuid[]))`;

/** Creates the queue of notices in Postgres. */
export function createDeliveryNotices({ select }: Database): DeliveryNotices {
  return {
    async claim(max, leaseMs) {
      const rows = await select(Prisma.sql`
        WITH due AS MATERIALIZED (
          SELECT endpoint_id, user_id FROM delivery_notice WHERE next_attempt_at <= now()
          ORDER BY next_attempt_at LIMIT ${max} FOR UPDATE SKIP LOCKED
        )
        UPDATE delivery_notice AS notice SET
          lease_id = ${newId()}::uuid, attempts = attempts + 1,
          next_attempt_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
        FROM due JOIN delivery_endpoint AS endpoint ON endpoint.id = due.endpoint_id
          JOIN "user" ON "user".id = due.user_id
          JOIN workspace ON workspace.id = endpoint.workspace_id
          JOIN member ON member.workspace_id = workspace.id AND member.user_id = due.user_id
        WHERE notice.endpoint_id = due.endpoint_id AND notice.user_id = due.user_id
        RETURNING notice.endpoint_id AS "endpointId", notice.user_id AS "userId", notice.lease_id AS "leaseId",
          notice.attempts, notice.workspace_id AS "workspaceId", workspace.name AS "workspaceName",
          workspace.slug AS "workspaceSlug", email, kind, description,
          disabled_reason AS "disabledReason", failing_since AS "failingSince",
          deleted_at IS NULL AND noticed_at IS NOT DISTINCT FROM coalesce(disabled_at, failing_since)
            AND noticed_at IS NOT NULL AND (endpoint.user_id IS NOT NULL OR role = ANY(${rolesWith.manageEndpoints}::member_role[])) AND email_verified
            AS "isCurrent"`);
      return rows.map((row) => withoutNulls(row) as unknown as DeliveryNotice);
    },

    async remove(notices) {
      await select(Prisma.sql`DELETE FROM delivery_notice WHERE ${leased(notices)}`);
    },

    async retry(notices, pauseMs) {
      await select(Prisma.sql`
        UPDATE delivery_notice SET lease_id = NULL, next_attempt_at = now() + ${pauseMs}::float8 * interval '1 millisecond'
        WHERE ${leased(notices)}`);
    },
  };
}
