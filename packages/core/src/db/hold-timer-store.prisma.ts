import {
  type HeldLeads,
  type HoldTimerStore,
  holdEndedReason,
  type WaitingLeads,
} from '../lead/hold-timers.ts';
import type { StatusChangeFrom } from '../lead/lead-store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { arrayValues, statusChangeColumns } from './lead-columns.ts';
import { statusChangeOfMany } from './lead-changes.ts';

/** Creates the store of leads with a hold time in Postgres. */
export function createHoldTimerStore({ select, selectInTransaction }: Database): HoldTimerStore {
  return {
    approveDue: (limit) =>
      selectInTransaction(async (tx) => {
        // A statement of its own, because the next one must see the leads after the wait.
        await tx.select(Prisma.sql`SELECT FROM pg_advisory_xact_lock(${advisoryLocks.holdTimers})`, {
          name: 'lock_hold_timers',
        });
        const taken = await tx.select<{ workspaceId: string | null; ids: string[]; lateSeconds: number }>(
          Prisma.sql`SELECT workspace_id AS "workspaceId", ids::text[], late_seconds AS "lateSeconds"
            FROM take_due_leads(${limit})`,
          { name: 'take_due_leads' },
        );
        let approved = 0;
        for (const { workspaceId, ids } of taken) {
          if (workspaceId === null) continue;
          await tx.act(workspaceId);
          const createdAt = new Date();
          const changes = ids.map(
            (id): StatusChangeFrom => ({
              id,
              from: ['OnHold'],
              to: 'Approved',
              reason: holdEndedReason,
              createdAt,
            }),
          );
          const values = [...arrayValues(statusChangeColumns, changes), workspaceId];
          const changed = await tx.select(
            { text: statusChangeOfMany, values },
            { name: 'approve_due_leads' },
          );
          approved += changed.length;
        }
        return {
          approved,
          taken: taken.reduce((sum, { ids }) => sum + ids.length, 0),
          lateSeconds: Math.max(0, ...taken.map(({ lateSeconds }) => lateSeconds)),
        };
      }),

    listWaiting: () =>
      select<WaitingLeads & Record<string, unknown>>(Prisma.sql`
        SELECT slug AS workspace, code AS "campaignCode", approve_after_seconds AS "approveAfterSeconds",
          count(*)::float8 AS leads, (count(*) FILTER (WHERE due_at <= now()))::float8 AS due,
          min(due_at) AS "firstAt", max(due_at) AS "lastAt"
        FROM (
          SELECT workspace.slug, campaign.code, approve_after_seconds,
            approval_time(approve_at, lead.created_at, approve_after_seconds) AS due_at
          FROM lead JOIN campaign ON campaign.id = lead.campaign_id
            JOIN workspace ON workspace.id = lead.workspace_id
          WHERE approve_at IS NOT NULL AND lead.status = 'OnHold' AND hold_reason IS NULL
        ) AS waiting WHERE due_at IS NOT NULL
        GROUP BY 1, 2, 3 ORDER BY 1, 2`),

    listHeld: () =>
      select<HeldLeads & Record<string, unknown>>(Prisma.sql`
        SELECT slug AS workspace, code AS "campaignCode", count(*)::float8 AS leads,
          min(lead.created_at) AS "firstCreatedAt", max(lead.created_at) AS "lastCreatedAt"
        FROM lead JOIN campaign ON campaign.id = lead.campaign_id
          JOIN workspace ON workspace.id = lead.workspace_id
        WHERE lead.status = 'OnHold' AND hold_reason IS NOT NULL
        GROUP BY 1, 2 ORDER BY 1, 2`),
  };
}
