import type { LeadViewer, ListedViewer } from '../lead/lead-viewer.schema.ts';
import type { LeadViewerStore } from '../lead/lead-viewers.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/** Creates the store of the users who have a lead open, in Postgres. */
export function createLeadViewerStore({ select }: Database): LeadViewerStore {
  return {
    view: ({ id, workspaceId }, userId, silentMs) =>
      select<LeadViewer>(
        Prisma.sql`
          WITH seen AS (
            INSERT INTO lead_viewer (lead_id, user_id, workspace_id, seen_at)
            SELECT id, ${userId}::uuid, workspace_id, now() FROM lead WHERE id = ${id}::uuid
            ON CONFLICT (lead_id, user_id) DO UPDATE SET seen_at = excluded.seen_at
          ), left_leads AS (
            DELETE FROM lead_viewer
            WHERE workspace_id = ${workspaceId}::uuid AND user_id = ${userId}::uuid AND lead_id <> ${id}::uuid
          )
          SELECT "user".id AS "userId", name FROM lead_viewer JOIN "user" ON "user".id = user_id
          WHERE lead_id = ${id}::uuid AND user_id <> ${userId}::uuid
            AND seen_at > now() - ${silentMs}::int * interval '1 millisecond'
          ORDER BY name, "user".id`,
        { workspaceId },
      ),

    list: ({ workspaceId, userId }, silentMs) =>
      select<ListedViewer>(
        Prisma.sql`
          SELECT lead_id AS "leadId", "user".id AS "userId", name FROM lead_viewer JOIN "user" ON "user".id = user_id
          WHERE workspace_id = ${workspaceId}::uuid AND user_id <> ${userId}::uuid
            AND seen_at > now() - ${silentMs}::int * interval '1 millisecond'
          ORDER BY name, "user".id`,
        { workspaceId },
      ),

    async leave({ workspaceId, userId }, leadId) {
      await select(
        Prisma.sql`DELETE FROM lead_viewer
          WHERE workspace_id = ${workspaceId}::uuid AND user_id = ${userId}::uuid AND lead_id = ${leadId}::uuid`,
        { workspaceId },
      );
    },
  };
}
