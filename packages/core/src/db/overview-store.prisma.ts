import type { LeadScope } from '../lead/lead-scope.ts';
import type { CountedValue, OverviewStore, StatusCounts } from '../overview/overview-store.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/*
 * What the overview shows of a million leads is read from tallies, by quarters of an hour and by days, and from the
 * entries that are not added to them yet. Both are in one statement, so that nothing is counted twice or missed.
 */

const dayMs = 86_400_000;
/** Taken by who adds up; any number that nobody else takes. */
const lock = 4_815_162_342;

const counts = Prisma.sql`on_hold, trashed, paid, approved`;
const sums = Prisma.sql`
  sum(on_hold)::int AS "OnHold", sum(trashed)::int AS "Trashed", sum(paid)::int AS "Paid",
  sum(approved)::int AS "Approved"`;
const ofOneLead = Prisma.sql`
  (status = 'OnHold')::int AS on_hold, (status = 'Trashed')::int AS trashed, (status = 'Paid')::int AS paid,
  (status = 'Approved')::int AS approved`;
const mostFirst = (value: Prisma.Sql) => Prisma.sql`sum(on_hold + trashed + paid + approved) DESC, ${value}`;

type Kind = 'campaign' | 'landing_page';
const valueOf = { campaign: Prisma.sql`campaign_id::text`, landing_page: Prisma.sql`lp_name` } as const;
const valueOfLead = {
  campaign: valueOf.campaign,
  landing_page: Prisma.sql`CASE WHEN length(lp_name) <= 255 THEN lp_name END`,
} as const;

interface Span {
  readonly from: Date;
  readonly to: Date;
}

/** What is counted of leads, in Postgres. */
export function createOverviewStore({ select }: Pick<Database, 'select'>): OverviewStore {
  const countSteps = async (scope: LeadScope, { from, to }: Span, bounds: readonly Date[]) => {
    const rows = await select<StatusCounts & { step: number }>(Prisma.sql`
      SELECT width_bucket(at, ${bounds.map(iso)}::timestamptz[]) AS step, ${sums}
      FROM (
        SELECT at, ${counts} FROM lead_tally WHERE ${ofTally(scope)} AND kind = 'time' AND ${within('at', { from, to })}
        UNION ALL
        SELECT at, ${counts} FROM lead_tally_entry WHERE ${ofLead(scope)} AND ${within('at', { from, to })}
      ) AS counted
      GROUP BY step`);
    const byStep = new Map(rows.map(({ step, ...others }) => [step, others]));
    return bounds.map((_, index) => byStep.get(index + 1) ?? nothing);
  };

  /** From the tallies of whole days; what of the range is beside them, from the leads. */
  const counted = (scope: LeadScope, kind: Kind, range: Span): Prisma.Sql => {
    const { days, beside } = wholeDays(range);
    const ofLeads = beside.map(
      (span) => Prisma.sql`
        SELECT ${valueOfLead[kind]} AS value, ${ofOneLead} FROM lead
        WHERE ${ofLead(scope)} AND ${within('created_at', span)}`,
    );
    return Prisma.join(
      [
        Prisma.sql`
          SELECT value, ${counts} FROM lead_tally
          WHERE ${ofTally(scope)} AND kind = ${kind}::lead_tally_kind AND ${within('at', days)}`,
        Prisma.sql`
          SELECT ${valueOf[kind]}, ${counts} FROM lead_tally_entry
          WHERE ${ofLead(scope)} AND ${within('at', days)}`,
        ...ofLeads,
      ],
      ' UNION ALL ',
    );
  };

  return {
    async count(scope, { previousFrom, bounds, top, s1Leads }) {
      const [from, to] = [bounds[0], bounds.at(-1)];
      if (from === undefined || to === undefined) throw new RangeError('A range has a beginning and an end');
      const range = { from, to };
      const [[previous = nothing, ...steps], campaigns, landingPages, s1] = await Promise.all([
        countSteps(scope, { from: previousFrom, to }, [previousFrom, ...bounds.slice(0, -1)]),
        select<CountedValue & { name: string }>(Prisma.sql`
          SELECT code AS value, name, "OnHold", "Trashed", "Paid", "Approved" FROM (
            SELECT value::uuid AS id, ${sums} FROM (${counted(scope, 'campaign', range)}) AS counted
            GROUP BY value HAVING sum(on_hold + trashed + paid + approved) > 0
          ) AS summed JOIN campaign USING (id)
          ORDER BY "OnHold" + "Trashed" + "Paid" + "Approved" DESC, code LIMIT ${top}`),
        select<CountedValue>(Prisma.sql`
          SELECT value, ${sums} FROM (${counted(scope, 'landing_page', range)}) AS counted WHERE value IS NOT NULL
          GROUP BY value HAVING sum(on_hold + trashed + paid + approved) > 0
          ORDER BY ${mostFirst(Prisma.sql`value`)} LIMIT ${top}`),
        select<CountedValue>(Prisma.sql`
          SELECT s1 AS value, ${sums} FROM (
            SELECT s1, ${ofOneLead} FROM lead WHERE ${ofLead(scope)} AND ${within('created_at', range)}
            ORDER BY created_at DESC, id DESC LIMIT ${s1Leads}
          ) AS newest
          WHERE s1 IS NOT NULL GROUP BY s1 ORDER BY ${mostFirst(Prisma.sql`s1`)} LIMIT ${top}`),
      ]);
      return { previous, steps, campaigns, landingPages, s1 };
    },

    async addUp(most) {
      const [row] = await select<{ added: number }>(Prisma.sql`
        WITH turn AS MATERIALIZED (
          SELECT pg_try_advisory_xact_lock(${lock}) AS is_ours
        ), taken AS (
          DELETE FROM lead_tally_entry
          WHERE id IN (
            SELECT id FROM lead_tally_entry WHERE (SELECT is_ours FROM turn) ORDER BY id LIMIT ${most}
          )
          RETURNING *
        ), added AS (
          INSERT INTO lead_tally AS kept (workspace_id, of_id, kind, at, value, ${counts})
          SELECT
            workspace_id, of_id, kind::lead_tally_kind, counted.at, value, sum(on_hold), sum(trashed), sum(paid),
            sum(approved)
          FROM taken,
            LATERAL (VALUES (workspace_id), (user_id)) AS whose (of_id),
            LATERAL (VALUES
              ('time', taken.at, ''),
              ('campaign', date_bin('1 day', taken.at, '2000-01-01T00:00:00Z'), campaign_id::text),
              ('landing_page', date_bin('1 day', taken.at, '2000-01-01T00:00:00Z'), lp_name)
            ) AS counted (kind, at, value)
          WHERE value IS NOT NULL
          GROUP BY workspace_id, of_id, kind, counted.at, value
          ON CONFLICT (workspace_id, of_id, kind, at, value) DO UPDATE SET
            on_hold = kept.on_hold + excluded.on_hold, trashed = kept.trashed + excluded.trashed,
            paid = kept.paid + excluded.paid, approved = kept.approved + excluded.approved
        )
        SELECT count(*)::int AS added FROM taken`);
      return row?.added ?? 0;
    },
  };
}

const nothing: StatusCounts = { OnHold: 0, Trashed: 0, Paid: 0, Approved: 0 };

const iso = (date: Date) => date.toISOString();

function ofTally({ workspaceId, userId }: LeadScope): Prisma.Sql {
  return Prisma.sql`workspace_id = ${workspaceId}::uuid AND of_id = ${userId ?? workspaceId}::uuid`;
}

function ofLead({ workspaceId, userId }: LeadScope): Prisma.Sql {
  const ofUser = userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${userId}::uuid`;
  return Prisma.sql`workspace_id = ${workspaceId}::uuid ${ofUser}`;
}

function within(column: 'at' | 'created_at', { from, to }: Span): Prisma.Sql {
  const name = Prisma.raw(column);
  return Prisma.sql`${name} >= ${iso(from)}::timestamptz AND ${name} < ${iso(to)}::timestamptz`;
}

/** The UTC days that lie in a range as a whole, and what is before and after them. */
function wholeDays({ from, to }: Span): { days: Span; beside: Span[] } {
  const first = new Date(Math.ceil(from.getTime() / dayMs) * dayMs);
  const last = new Date(Math.floor(to.getTime() / dayMs) * dayMs);
  if (last <= first) return { days: { from: first, to: first }, beside: [{ from, to }] };
  const beside = [
    { from, to: first },
    { from: last, to },
  ].filter((span) => span.from < span.to);
  return { days: { from: first, to: last }, beside };
}
