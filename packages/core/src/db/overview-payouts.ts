import type { LeadScope } from '../lead/lead-scope.ts';
import type { PayoutSum } from '../overview/overview.schema.ts';
import type { Span } from '../overview/overview-store.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { dayMs, iso, ofLead, ofTally, wholeDays, within } from './lead-tallies.ts';

/*
 * The payouts of the overview, as in the statements (payout-store.prisma.ts). A statement needs a row for each campaign of
 * each user. The overview needs far fewer sums, so it reads the counts of the workspace instead of those of its users.
 */

/** The payouts of a range: all of them, those of each step from 0, and those of each campaign or publisher by its id. */
export interface PayoutSums {
  readonly total: PayoutSum[];
  readonly steps: ReadonlyMap<number, PayoutSum[]>;
  readonly values: ReadonlyMap<string, PayoutSum[]>;
}

/** A part of a UTC day. Its leads are counted in a step, and not in the step that has the tallies of the day. */
interface PartOfDay extends Span {
  readonly step: number;
  /** Undefined for a day without tallies. */
  readonly tallyStep: number | undefined;
}

/**
 * Returns the parts of days whose leads are read, because the steps of most time zones do not end with UTC days. The
 * tallies of a UTC day belong to the step at its noon. Steps are numbered from 1, as Postgres numbers buckets.
 */
export function partsOfDays(bounds: readonly Date[]): PartOfDay[] {
  const times = bounds.map((bound) => bound.getTime());
  const { days } = wholeDays({ from: new Date(times[0] ?? 0), to: new Date(times.at(-1) ?? 0) });
  const [firstDay, endOfDays] = [days.from.getTime(), days.to.getTime()];
  const parts: PartOfDay[] = [];
  for (const [index, end] of times.slice(1).entries()) {
    const start = times[index] ?? 0;
    const step = index + 1;
    const endOfFirstDay = Math.ceil(start / dayMs) * dayMs;
    const lastDay = Math.max(Math.floor(end / dayMs) * dayMs, endOfFirstDay);
    for (const [from, to] of [
      [start, Math.min(endOfFirstDay, end)],
      [lastDay, end],
    ] as const) {
      if (from >= to) continue;
      const day = Math.floor(from / dayMs) * dayMs;
      const hasTallies = day >= firstDay && day < endOfDays;
      const tallyStep = hasTallies ? times.filter((time) => time <= day + dayMs / 2).length : undefined;
      if (tallyStep !== step) parts.push({ from: new Date(from), to: new Date(to), step, tallyStep });
    }
  }
  return parts;
}

/** Users of a workspace; all of them without `userIds`. */
interface Users {
  readonly workspaceId: string;
  readonly userIds?: readonly string[] | undefined;
}

function ofUsers({ workspaceId, userIds }: Users): Prisma.Sql {
  const ofWorkspace = ofLead({ workspaceId });
  return userIds === undefined
    ? ofWorkspace
    : Prisma.sql`${ofWorkspace} AND user_id = ANY (${userIds}::uuid[])`;
}

/**
 * Joins the payout of a lead's publisher, if it has one of its own in the lead's campaign. Rows are grouped by it before
 * their rule is looked up, because a workspace has far fewer rules than publishers.
 */
const withPayee = (workspaceId: string) => Prisma.sql`
  LEFT JOIN (
    SELECT campaign_id, user_id AS payee FROM publisher_payout WHERE workspace_id = ${workspaceId}::uuid
  ) AS special ON special.campaign_id = found.campaign_id AND payee = user_id`;

/** Selects the leads of parts of days that have a payout: those that a step has more, and those that it has less. */
function leadsOfParts(users: Users, parts: readonly PartOfDay[], user: Prisma.Sql): Prisma.Sql {
  const own = ofUsers(users);
  return Prisma.sql`
    SELECT signed.step, found.campaign_id, ${user}, status, currency, sum(signed.sign * leads) AS leads,
      sum(signed.sign * amount) AS amount
    FROM unnest(
      ${parts.map(({ from }) => iso(from))}::timestamptz[], ${parts.map(({ to }) => iso(to))}::timestamptz[],
      ${parts.map(({ step }) => step)}::int[], ${parts.map(({ tallyStep }) => tallyStep ?? null)}::int[]
    ) AS part (starts, ends, step, tally_step) CROSS JOIN LATERAL (
      SELECT campaign_id, user_id, status, payout_currency AS currency, 1 AS leads, payout_amount AS amount
      FROM lead WHERE ${own} AND created_at >= starts AND created_at < ends
      UNION ALL
      SELECT campaign_id, user_id, status, payout_currency, leads, payout_amount FROM lead_tally_erased
      WHERE ${own} AND at >= starts AND at <= ends - interval '15 minutes'
    ) AS found ${withPayee(users.workspaceId)}
    CROSS JOIN LATERAL (VALUES (part.step, 1), (part.tally_step, -1)) AS signed (step, sign)
    WHERE signed.step IS NOT NULL AND status <> 'Trashed' AND (status = 'OnHold' OR currency IS NOT NULL)
    GROUP BY 1, 2, 3, 4, 5`;
}

/**
 * Adds up the payouts of the leads that were created in a range.
 *
 * @param bounds the start of each step, and the end of the last step. Each but the last is a multiple of 15 minutes.
 * @param kind whether the values are campaigns or publishers. Publishers need `userIds`.
 */
export async function sumPayouts(
  select: Database['select'],
  users: Users,
  bounds: readonly Date[],
  kind: 'campaign' | 'publisher',
): Promise<PayoutSums> {
  const { workspaceId, userIds } = users;
  const { days } = wholeDays({ from: bounds[0] ?? new Date(0), to: bounds.at(-1) ?? new Date(0) });
  const own = ofUsers(users);
  const starts = bounds.slice(0, -1).map(iso);
  const stepOf = (day: Prisma.Sql) =>
    Prisma.sql`width_bucket(${day} + interval '12 hours', ${starts}::timestamptz[])`;
  const ofTallyDay = stepOf(Prisma.sql`at`);
  const ofEntryDay = stepOf(Prisma.sql`date_bin('1 day', at, '2000-01-01T00:00:00Z')`);
  // Without `userIds`, only publishers whose payout differs from that of the campaign are separated.
  const user = userIds === undefined ? Prisma.sql`payee` : Prisma.sql`user_id`;
  const ofTallies = userIds === undefined ? Prisma.sql`CASE WHEN status = 'OnHold' THEN user_id END` : user;
  const inDays = Prisma.sql`kind = 'campaign' AND ${within('at', days)}`;
  const onHold =
    userIds === undefined
      ? Prisma.sql`
        SELECT ${ofTallyDay}, value::uuid, NULL::uuid, on_hold FROM lead_tally
        WHERE ${ofTally({ workspaceId })} AND ${inDays}
        UNION ALL
        -- The leads of publishers with a payout of their own do not have that of the campaign.
        SELECT step, campaign_id, payee.user_id, sign * leads FROM (
          SELECT ${ofTallyDay} AS step, campaign_id, user_id, sum(on_hold) AS leads
          FROM lead_tally JOIN publisher_payout ON user_id = of_id AND campaign_id::text = value
          WHERE lead_tally.workspace_id = ${workspaceId}::uuid AND publisher_payout.workspace_id = ${workspaceId}::uuid
            AND of_id = ANY (ARRAY(SELECT user_id FROM publisher_payout WHERE workspace_id = ${workspaceId}::uuid))
            AND ${inDays}
          GROUP BY 1, 2, 3
        ) AS special, LATERAL (VALUES (user_id, 1), (NULL, -1)) AS payee (user_id, sign)`
      : Prisma.sql`
        SELECT ${ofTallyDay}, value::uuid, of_id, on_hold FROM lead_tally
        WHERE workspace_id = ${workspaceId}::uuid AND of_id = ANY (${userIds}::uuid[]) AND ${inDays}`;
  const value = kind === 'campaign' ? Prisma.sql`campaign_id` : Prisma.sql`user_id`;
  const columns = Prisma.sql`(step, campaign_id, user_id, status, currency, leads, amount)`;
  const rows = await select<SumRow>(
    Prisma.sql`
      WITH tallied ${columns} AS MATERIALIZED (
        SELECT ${ofTallyDay}, campaign_id, ${ofTallies}, status, currency, sum(leads), sum(amount) FROM (
          SELECT workspace_id, user_id, at, campaign_id, status, currency, leads, amount FROM payout_tally
          WHERE ${own} AND ${within('at', days)}
          UNION ALL
          SELECT workspace_id, user_id, at, campaign_id, status, currency, leads, amount
          FROM payout_tally_entry WHERE ${own} AND ${within('at', days)}
        ) AS each GROUP BY 1, 2, 3, 4, 5
      ), moved ${columns} AS MATERIALIZED (${leadsOfParts(users, partsOfDays(bounds), user)}
      ), waiting AS (
        SELECT step, campaign_id, user_id, sum(leads) AS leads FROM (
          ${onHold}
          UNION ALL
          SELECT step, found.campaign_id, ${user}, sum(leads) FROM (
            SELECT ${ofEntryDay} AS step, campaign_id, user_id, leads FROM lead_tally_entry
            WHERE ${own} AND ${within('at', days)} AND status = 'OnHold'
          ) AS found ${withPayee(workspaceId)} GROUP BY 1, 2, 3
          UNION ALL
          SELECT step, campaign_id, user_id, leads FROM moved WHERE currency IS NULL
          UNION ALL
          SELECT step, campaign_id, user_id, -leads FROM tallied WHERE status = 'OnHold'
        ) AS each (step, campaign_id, user_id, leads) GROUP BY 1, 2, 3 HAVING sum(leads) <> 0
      ), each AS (
        SELECT * FROM tallied
        UNION ALL
        SELECT * FROM moved WHERE currency IS NOT NULL
        UNION ALL
        SELECT step, campaign_id, user_id, 'OnHold', rules.currency, leads, leads * rules.amount
        FROM waiting CROSS JOIN LATERAL payout_by_rules(campaign_id, user_id) AS rules
      )
      SELECT step, ${value} AS value, status, currency, trim_scale(sum(amount))::text AS amount
      FROM each GROUP BY status, currency, GROUPING SETS ((), (step), (${value}))
      HAVING sum(leads) <> 0 OR sum(amount) <> 0 ORDER BY currency`,
    { workspaceId },
  );
  const total = new Map<'', PayoutSum[]>();
  const steps = new Map<number, PayoutSum[]>();
  const values = new Map<string, PayoutSum[]>();
  for (const row of rows) {
    if (row.step !== null) addTo(steps, row.step - 1, row);
    else if (row.value !== null) addTo(values, row.value, row);
    else addTo(total, '', row);
  }
  return { total: total.get('') ?? [], steps, values };
}

interface AmountRow {
  readonly status: keyof typeof meanings;
  readonly currency: string;
  readonly amount: string;
}

type SumRow = AmountRow & { readonly step: number | null; readonly value: string | null };

const meanings = { OnHold: 'expected', Approved: 'payable', Paid: 'paid' } as const;

/** Adds an amount to the sums of a key. Each key has one amount of each status and currency. */
function addTo<Key>(sums: Map<Key, PayoutSum[]>, key: Key, { status, currency, amount }: AmountRow): void {
  const ofKey = sums.get(key) ?? [];
  const known = ofKey.find((sum) => sum.currency === currency);
  const sum = { currency, expected: '0', payable: '0', paid: '0', ...known, [meanings[status]]: amount };
  sums.set(key, known === undefined ? [...ofKey, sum] : ofKey.map((each) => (each === known ? sum : each)));
}

/**
 * Adds up the payouts of the leads of some sub-ids that were created in a range. Reads the leads, because no tally has the
 * payouts of sub-ids.
 */
export async function sumPayoutsOfS1(
  select: Database['select'],
  scope: LeadScope,
  span: Span,
  values: Prisma.Sql,
): Promise<ReadonlyMap<string, PayoutSum[]>> {
  const rows = await select<AmountRow & { readonly value: string }>(
    Prisma.sql`
      SELECT value, status, coalesce(own_currency, rules.currency) AS currency,
        trim_scale(sum(coalesce(own_amount, leads * rules.amount)))::text AS amount
      FROM (
        SELECT s1 AS value, found.campaign_id, payee, status, payout_currency AS own_currency, count(*) AS leads,
          sum(payout_amount) AS own_amount
        FROM lead AS found ${withPayee(scope.workspaceId)}
        WHERE ${ofLead(scope)} AND s1 = ANY (ARRAY(${values})) AND ${within('created_at', span)}
          AND (status = 'OnHold' OR status <> 'Trashed' AND payout_rule IS NOT NULL)
        GROUP BY 1, 2, 3, 4, 5
      ) AS counted LEFT JOIN LATERAL payout_by_rules(campaign_id, payee) AS rules ON own_currency IS NULL
      WHERE own_currency IS NOT NULL OR rules.currency IS NOT NULL
      GROUP BY 1, 2, 3 ORDER BY 3`,
    { workspaceId: scope.workspaceId },
  );
  const sums = new Map<string, PayoutSum[]>();
  for (const row of rows) addTo(sums, row.value, row);
  return sums;
}
