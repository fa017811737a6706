import type { LeadScope } from '../lead/lead-scope.ts';
import {
  addCounts,
  type CountedRecord,
  type CountedValue,
  type OverviewStore,
  type Span,
  type StatusCounts,
} from '../overview/overview-store.ts';
import type { ZoneOffset } from '../overview/days.ts';
import { aggregateCounts } from './aggregate-counts.ts';
import { aggregatePayouts } from './aggregate-payouts.ts';
import { createCampaignCounts } from './campaign-counts.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import {
  byStatus,
  byStatusOfS1,
  counts,
  iso,
  maxFirst,
  ofEachUser,
  ofLead,
  ofTally,
  sums,
  wholeDays,
  within,
} from './lead-tallies.ts';
import { partsOfDays, sumPayouts, sumPayoutsOfS1 } from './overview-payouts.ts';

/*
 * The overview reads counts instead of leads, since a workspace may have a million leads. Tallies hold the counts by
 * quarter of an hour and by day. Entries hold the counts that are not yet aggregated into tallies. One statement reads
 * both, so that no lead is counted twice or missed.
 */

const quarterMs = 900_000;

/**
 * The maximum number of leads that are read for the payouts of steps. Without it, the overview of a time zone far from UTC
 * could read half of its leads.
 */
const maxLeadsOfSteps = 200_000;

type Kind = 'campaign' | 'publisher' | 'landing_page' | 's1';
const valueOfLead = {
  publisher: Prisma.sql`user_id::text`,
  campaign: Prisma.sql`campaign_id::text`,
  landing_page: Prisma.sql`lead_tally_name(lp_name)`,
  s1: Prisma.sql`s1`,
} as const;
/** The `s1` of erased leads is unknown. */
const valueOfErased = {
  publisher: Prisma.sql`user_id::text`,
  campaign: Prisma.sql`campaign_id::text`,
  landing_page: Prisma.sql`lp_name`,
  s1: Prisma.sql`NULL`,
} as const;
const ofEntries = {
  publisher: Prisma.sql`user_id::text AS value, ${byStatus('leads')} FROM lead_tally_entry`,
  campaign: Prisma.sql`campaign_id::text AS value, ${byStatus('leads')} FROM lead_tally_entry`,
  landing_page: Prisma.sql`lp_name AS value, ${byStatus('leads')} FROM lead_tally_entry`,
  s1: Prisma.sql`value, ${byStatusOfS1} FROM lead_tally_entry, unnest(s1) AS value`,
} as const;
/** Creates the overview store in Postgres. */
export function createOverviewStore(database: Pick<Database, 'select'>): OverviewStore {
  const { select } = database;
  /** Selects the counts of quarters of an hour, grouped by an expression of their start `at`. */
  const countTimes = (scope: LeadScope, span: Span, group: Prisma.Sql) =>
    select<StatusCounts & { group: number }>(
      Prisma.sql`
      SELECT ${group} AS "group", ${sums}
      FROM (
        SELECT at, ${counts} FROM lead_tally WHERE ${ofTally(scope)} AND kind = 'time' AND ${within('at', span)}
        UNION ALL
        SELECT at, ${byStatus('leads')} FROM lead_tally_entry WHERE ${ofLead(scope)} AND ${within('at', span)}
      ) AS counted
      GROUP BY "group"`,
      { workspaceId: scope.workspaceId },
    );

  const countSteps = async (scope: LeadScope, span: Span, bounds: readonly Date[]) => {
    const rows = await countTimes(scope, span, bucketOf(bounds));
    const byStep = new Map(rows.map(({ group, ...others }) => [group, others]));
    return bounds.map((_, index) => byStep.get(index + 1) ?? noLeads);
  };

  const countHours = async (scope: LeadScope, span: Span, offsets: readonly ZoneOffset[]) => {
    const minutes = Prisma.sql`(${offsets.map((offset) => offset.minutes)}::int[])[${bucketOf(
      offsets.map(({ fromMs }) => new Date(fromMs)),
    )}]`;
    const rows = await countTimes(
      scope,
      span,
      Prisma.sql`extract(hour FROM at AT TIME ZONE 'UTC' + make_interval(mins => ${minutes}))::int`,
    );
    return rows
      .filter((row) => row.OnHold + row.Trashed + row.Paid + row.Approved > 0)
      .map(({ group: hour, ...others }) => Object.assign(others, { hour }))
      .toSorted((one, other) => one.hour - other.hour);
  };

  /** Counts leads of less than a quarter of an hour, of which there is no tally. */
  const countLeads = async (scope: LeadScope, span: Span) => {
    if (span.from >= span.to) return noLeads;
    const counting = Prisma.sql`
      SELECT ${sums} FROM (
        SELECT ${byStatus('1')} FROM lead WHERE ${ofLead(scope)} AND ${within('created_at', span)}
      ) AS counted HAVING count(*) > 0`;
    const [row = noLeads] = await select<StatusCounts>(counting, { workspaceId: scope.workspaceId });
    return row;
  };

  /** Selects counts of a range: of its whole days from tallies, of the rest from leads and the counts of erased leads. */
  const counted = (scope: LeadScope, kind: Kind, range: Span): Prisma.Sql => {
    const { days, partialDays } = wholeDays(range);
    const ofLeads = partialDays.flatMap((span) => [
      Prisma.sql`
        SELECT ${valueOfLead[kind]} AS value, ${byStatus('1')} FROM lead
        WHERE ${ofLead(scope)} AND ${within('created_at', span)}`,
      Prisma.sql`
        SELECT ${valueOfErased[kind]} AS value, ${byStatus('leads')} FROM lead_tally_erased
        WHERE ${ofLead(scope)} AND ${within('at', span)}`,
    ]);
    return Prisma.join(
      [
        kind === 'publisher'
          ? countPublishers(scope, days)
          : Prisma.sql`
            SELECT value, ${counts} FROM lead_tally
            WHERE ${ofTally(scope)} AND kind = ${kind}::lead_tally_kind AND ${within('at', days)}`,
        Prisma.sql`SELECT ${ofEntries[kind]} WHERE ${ofLead(scope)} AND ${within('at', days)}`,
        ...ofLeads,
      ],
      ' UNION ALL ',
    );
  };

  const byValue = (scope: LeadScope, kind: Kind, range: Span) => {
    // Every lead has a campaign and a user. The condition would make a text of the user of each tally.
    const hasValue =
      kind === 'campaign' || kind === 'publisher' ? Prisma.empty : Prisma.sql`WHERE value IS NOT NULL`;
    return Prisma.sql`
      SELECT value, ${sums} FROM (${counted(scope, kind, range)}) AS counted ${hasValue}
      GROUP BY value HAVING sum(on_hold + trashed + paid + approved) > 0`;
  };
  const topValues = (scope: LeadScope, kind: Kind, range: Span, top: number) =>
    Prisma.sql`${byValue(scope, kind, range)} ORDER BY ${maxFirst}, value LIMIT ${top}`;

  const countTop = (scope: LeadScope, kind: Kind, range: Span, top: number) =>
    select<CountedValue>(topValues(scope, kind, range, top), { workspaceId: scope.workspaceId });
  const countCampaigns = (scope: LeadScope, range: Span, top: number) =>
    select<CountedRecord & { id: string }>(
      Prisma.sql`
        SELECT id, code AS value, name, "OnHold", "Trashed", "Paid", "Approved"
        FROM (${byValue(scope, 'campaign', range)}) AS summed JOIN campaign ON id = summed.value::uuid
        ORDER BY "OnHold" + "Trashed" + "Paid" + "Approved" DESC, code LIMIT ${top}`,
      { workspaceId: scope.workspaceId },
    );

  return {
    ...createCampaignCounts(database),

    async count(scope, { previous, bounds, offsets, top }) {
      const [from, to] = [bounds[0], bounds.at(-1)];
      if (from === undefined || to === undefined) throw new RangeError('The range needs at least two bounds');
      const range = { from, to };
      const { workspaceId } = scope;
      // One after the other, so that an overview uses one connection: it takes one turn among the costly reads.
      const lastQuarter = new Date(Math.floor(previous.to.getTime() / quarterMs) * quarterMs);
      const [quarters = noLeads] = await countSteps(scope, { from: previous.from, to: lastQuarter }, [
        previous.from,
      ]);
      const rest = await countLeads(scope, { from: lastQuarter, to: previous.to });
      const steps = await countSteps(scope, range, bounds.slice(0, -1));
      const campaigns = await countCampaigns(scope, range, top);
      const publishers =
        scope.userId !== undefined
          ? []
          : await select<CountedRecord>(
              Prisma.sql`
                SELECT value, name, "OnHold", "Trashed", "Paid", "Approved"
                FROM (${byValue(scope, 'publisher', range)}) AS summed JOIN "user" ON id = summed.value::uuid
                ORDER BY "OnHold" + "Trashed" + "Paid" + "Approved" DESC, value LIMIT ${top}`,
              { workspaceId },
            );
      const hours = await countHours(scope, range, offsets);
      const landingPages = await countTop(scope, 'landing_page', range, top);
      const s1 = await countTop(scope, 's1', range, top);
      const [s1Others] = await select<{ leads: number }>(
        Prisma.sql`
          SELECT coalesce(sum(leads), 0)::int AS leads FROM (
            ${Prisma.join(
              [
                Prisma.sql`
                  SELECT on_hold + trashed + paid + approved AS leads FROM lead_tally
                  WHERE ${ofTally(scope)} AND kind = 's1_others' AND ${within('at', wholeDays(range).days)}`,
                ...wholeDays(range).partialDays.map(
                  (span) => Prisma.sql`
                    SELECT with_s1 FROM lead_tally_erased WHERE ${ofLead(scope)} AND ${within('at', span)}`,
                ),
              ],
              ' UNION ALL ',
            )}
          ) AS others`,
        { workspaceId },
      );
      return {
        previous: addCounts(quarters, rest),
        steps,
        campaigns,
        publishers,
        hours,
        landingPages,
        s1,
        s1Others: s1Others?.leads ?? 0,
      };
    },

    countByCountry(scope, span, top) {
      return select<CountedValue>(
        Prisma.sql`
          SELECT left(country, 64) AS value, ${sums} FROM (
            SELECT country, ${byStatus('1')} FROM lead
            WHERE ${ofLead(scope)} AND ${within('created_at', span)} AND country IS NOT NULL
          ) AS counted
          GROUP BY 1 ORDER BY ${maxFirst}, 1 LIMIT ${top}`,
        { workspaceId: scope.workspaceId },
      );
    },

    async sumPayouts({ workspaceId, userId }, { previous, bounds, top }) {
      const [from, to] = [bounds[0], bounds.at(-1)];
      if (from === undefined || to === undefined) throw new RangeError('The range needs at least two bounds');
      const scope = { workspaceId, userId };
      const users = { workspaceId, userIds: userId === undefined ? undefined : [userId] };
      const stepCounts = await countSteps(scope, { from, to }, bounds.slice(0, -1));
      const hasSteps = countParts(stepCounts, bounds) <= maxLeadsOfSteps;
      const campaigns = await countCampaigns(scope, { from, to }, top);
      const { total, steps, values } = await sumPayouts(
        select,
        users,
        hasSteps ? bounds : [from, to],
        'campaign',
      );
      const before = await sumPayouts(select, users, [previous.from, previous.to], 'campaign');
      return {
        total,
        previous: before.total,
        steps: hasSteps ? stepCounts.map((_, index) => steps.get(index) ?? []) : undefined,
        campaigns: campaigns.map(({ id, value }) => ({ value, payouts: values.get(id) ?? [] })),
      };
    },

    async sumPayoutsByPublisher(workspaceId, { from, to }, userIds) {
      const { values } = await sumPayouts(select, { workspaceId, userIds }, [from, to], 'publisher');
      return [...values].map(([value, payouts]) => ({ value, payouts }));
    },

    async sumPayoutsByS1(scope, span, top) {
      const values = Prisma.sql`SELECT value FROM (${topValues(scope, 's1', span, top)}) AS top`;
      const ofValues = await sumPayoutsOfS1(select, scope, span, values);
      return [...ofValues].map(([value, payouts]) => ({ value, payouts }));
    },

    async aggregate(limit) {
      return (await aggregateCounts(select, limit)) + (await aggregatePayouts(select, limit));
    },
  };
}

const noLeads: StatusCounts = { OnHold: 0, Trashed: 0, Paid: 0, Approved: 0 };

/** Returns about how many leads are read for the payouts of steps. Assumes that the leads of a step are evenly distributed. */
function countParts(steps: readonly StatusCounts[], bounds: readonly Date[]): number {
  const lengthOf = ({ from, to }: Span) => to.getTime() - from.getTime();
  return partsOfDays(bounds).reduce((sum, part) => {
    const [from = part.from, to = part.to] = bounds.slice(part.step - 1);
    const { OnHold, Approved, Paid } = steps[part.step - 1] ?? noLeads;
    return sum + ((OnHold + Approved + Paid) * lengthOf(part)) / lengthOf({ from, to });
  }, 0);
}

/**
 * Sums the tallies of campaigns by user. They are summed before their users become texts: 500 publishers with 32
 * campaigns have 480,000 tallies in 30 days.
 */
function countPublishers(scope: LeadScope, days: Span): Prisma.Sql {
  return Prisma.sql`
    SELECT of_id::text AS value, sum(on_hold) AS on_hold, sum(trashed) AS trashed, sum(paid) AS paid,
      sum(approved) AS approved
    FROM lead_tally WHERE ${ofEachUser(scope)} AND kind = 'campaign' AND ${within('at', days)} GROUP BY of_id`;
}

/** Returns the number of the last bound that a quarter of an hour does not precede, from 1. */
function bucketOf(bounds: readonly Date[]): Prisma.Sql {
  return Prisma.sql`width_bucket(at, ${bounds.map(iso)}::timestamptz[])`;
}
