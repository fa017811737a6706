import type { LeadStatus } from '../lead/lead-status.ts';
import type { BulkChange, LeadChange, LeadStore } from '../lead/lead-store.ts';
import { firstId } from '../uuid.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { changesOfEvents } from './lead-events.ts';
import { changeColumnsWithAliases } from './lead-rows.ts';
import { withoutNulls } from './without-nulls.ts';

/** The number of bytes of changes after which a page of a history has no further change. */
const maxHistoryBytes = 2 * 1024 * 1024;

type LeadHistory = Pick<
  LeadStore,
  'history' | 'changesOfEvent' | 'bulkChanges' | 'countBulkChanges' | 'findBulkChanged' | 'findStatusRequests'
>;

/** Creates the part of the lead store that reads the histories of leads. */
export function createLeadHistory({ select }: Database): LeadHistory {
  return {
    async history({ id, workspaceId }, aboveVersion, limit) {
      const rows = await select<Record<string, unknown>>(
        Prisma.sql`
          SELECT ${changeColumnsWithAliases} FROM (
            SELECT *, sum(bytes) OVER (ORDER BY version) - bytes AS bytes_before
            FROM (
              SELECT *, octet_length(changes::text) AS bytes FROM (
                SELECT * FROM lead_change WHERE lead_id = ${id}::uuid AND version > ${aboveVersion}
                ORDER BY version LIMIT ${limit}
              ) AS changes
            ) AS sized
          ) AS page WHERE bytes_before < ${maxHistoryBytes} ORDER BY version`,
        { workspaceId },
      );
      return rows.map((row) => withoutNulls(row) as unknown as LeadChange);
    },

    async changesOfEvent({ id: leadId, workspaceId }, version) {
      const rows = await select<Record<string, unknown>>(
        Prisma.sql`SELECT ${changeColumnsWithAliases} FROM ${changesOfEvents([{ leadId, version }])}`,
        { workspaceId },
      );
      return rows.map((row) => withoutNulls(row) as unknown as LeadChange);
    },

    async bulkChanges({ workspaceId, bulkId }, { limit, afterId = firstId }) {
      const rows = await select<Record<string, unknown>>(
        Prisma.sql`
          SELECT id, fields, reason_before AS "reasonBefore", status_now AS "statusNow", version,
            newest_bulk_id AS "newestBulkId", is_in_payment AS "isInPayment",
            CASE WHEN to_status IS NOT NULL THEN json_build_object('from', from_status, 'to', to_status) END AS status
          FROM changes_of_bulk(${bulkId}::uuid, ${afterId}::uuid, ${limit}::int) ORDER BY id`,
        { workspaceId },
      );
      return rows.map((row) => withoutNulls(row) as unknown as BulkChange);
    },

    async countBulkChanges({ workspaceId, bulkId }) {
      const [row] = await select<{ count: number }>(
        Prisma.sql`SELECT count(*)::float8 AS count FROM lead_change WHERE bulk_id = ${bulkId}::uuid`,
        { workspaceId },
      );
      return row?.count ?? 0;
    },

    async findBulkChanged({ workspaceId, bulkId }, ids) {
      const rows = await select<{ id: string }>(
        Prisma.sql`
          SELECT lead_id AS id FROM lead_change WHERE bulk_id = ${bulkId}::uuid AND lead_id = ANY(${ids}::uuid[])`,
        { workspaceId },
      );
      return new Set(rows.map(({ id }) => id));
    },

    async findStatusRequests(workspaceId, requestIds) {
      if (requestIds.length === 0) return new Map();
      const rows = await select<{ requestId: string; leadId: string; status: LeadStatus }>(
        Prisma.sql`
          SELECT request_id AS "requestId", lead_id AS "leadId", to_status AS status
          FROM lead_change WHERE request_id = ANY(${requestIds}::uuid[])`,
        { workspaceId },
      );
      return new Map(rows.map(({ requestId, ...change }) => [requestId, change]));
    },
  };
}
