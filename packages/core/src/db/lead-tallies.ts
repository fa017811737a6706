import type { LeadScope } from '../lead/lead-scope.ts';
import type { Span } from '../overview/overview-store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { Prisma } from './generated/client.ts';

/* Parts of the statements that read lead counts: tallies, and entries that are not yet aggregated into tallies. */

export const dayMs = 86_400_000;

export const counts = Prisma.sql`on_hold, trashed, paid, approved`;
export const sums = Prisma.sql`
  sum(on_hold)::int AS "OnHold", sum(trashed)::int AS "Trashed", sum(paid)::int AS "Paid",
  sum(approved)::int AS "Approved"`;
export const maxFirst = Prisma.sql`sum(on_hold + trashed + paid + approved) DESC`;
/** Returns one count column for each status, from a row with one status and an expression for its number of leads. */
export const byStatus = (leads: string) =>
  Prisma.raw(
    Object.entries({ on_hold: 'OnHold', trashed: 'Trashed', paid: 'Paid', approved: 'Approved' })
      .map(([column, status]) => `CASE WHEN status = '${status}' THEN ${leads} ELSE 0 END AS ${column}`)
      .join(', '),
  );
/** Counts each `s1` of an entry as 1 if the leads entered the status, and as -1 if they left it. */
export const byStatusOfS1 = byStatus('sign(leads)::int');
/**
 * A CTE that tries to take the lock of the aggregations of counts and payouts until the end of the transaction. It is
 * materialized, so that Postgres tries once.
 */
export const aggregationLock = Prisma.sql`
  aggregation_lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${advisoryLocks.leadCounts}) AS is_acquired)`;

export const iso = (date: Date) => date.toISOString();

export function ofTally({ workspaceId, userId }: LeadScope): Prisma.Sql {
  return Prisma.sql`workspace_id = ${workspaceId}::uuid AND of_id = ${userId ?? workspaceId}::uuid`;
}

export function ofLead({ workspaceId, userId }: LeadScope): Prisma.Sql {
  const ofUser = userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${userId}::uuid`;
  return Prisma.sql`workspace_id = ${workspaceId}::uuid ${ofUser}`;
}

export function within(column: 'at' | 'created_at', { from, to }: Span): Prisma.Sql {
  const name = Prisma.raw(column);
  return Prisma.sql`${name} >= ${iso(from)}::timestamptz AND ${name} < ${iso(to)}::timestamptz`;
}

/** Selects the tallies of every user of a workspace, not those of the workspace itself. */
export function ofEachUser({ workspaceId }: Pick<LeadScope, 'workspaceId'>): Prisma.Sql {
  const ofWorkspace = Prisma.sql`workspace_id = ${workspaceId}::uuid`;
  // Reads one entry of the index for each user, instead of all entries of the workspace.
  return Prisma.sql`${ofWorkspace} AND of_id = ANY (ARRAY(
    WITH RECURSIVE known AS (
      (SELECT of_id FROM lead_tally WHERE ${ofWorkspace} ORDER BY of_id LIMIT 1)
      UNION ALL
      SELECT (SELECT of_id FROM lead_tally WHERE ${ofWorkspace} AND of_id > known.of_id ORDER BY of_id LIMIT 1)
      FROM known WHERE of_id IS NOT NULL
    )
    SELECT of_id FROM known WHERE of_id <> ${workspaceId}::uuid
  ))`;
}

/** Splits a range into its whole UTC days, and the parts before and after them. */
export function wholeDays({ from, to }: Span): { days: Span; partialDays: Span[] } {
  const first = new Date(Math.ceil(from.getTime() / dayMs) * dayMs);
  const last = new Date(Math.floor(to.getTime() / dayMs) * dayMs);
  if (last <= first) return { days: { from: first, to: first }, partialDays: [{ from, to }] };
  const partialDays = [
    { from, to: first },
    { from: last, to },
  ].filter((span) => span.from < span.to);
  return { days: { from: first, to: last }, partialDays };
}
