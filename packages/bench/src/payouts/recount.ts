import { createPayoutStore, type Database } from '@leads/core/db';
import type { LeadStatus } from '@leads/core/lead/transitions';
import type pg from 'pg';
import { withClient } from '../stack/database.ts';
import { compareOverview } from './overview-payouts.ts';
import type { Random } from './random.ts';
import { type Difference, type RecountedLead, type RecountedPayout, unitsOf } from './recounted.ts';
import { type ChangedWorkspaces, dayMs, firstMs, quarterMs } from './random-changes.ts';

/** A range of creation times, of one workspace or of one user. */
interface Part {
  readonly workspaceId: string;
  readonly userId?: string | undefined;
  readonly from: Date;
  readonly to: Date;
}

const historyPage = 50_000;
const maxListed = 10;

/**
 * Compares the totals of the service with a recount from the history of each lead, and the counts of payments with their
 * leads and with the histories. The totals are of whole ranges, of parts of days, and of single users.
 *
 * @returns the differences; an empty list if there are none.
 */
export async function compareWithRecount(
  { databaseUrl, database, tenants, days }: ChangedWorkspaces,
  random: Random,
): Promise<Difference[]> {
  const end = firstMs + days * dayMs;
  const parts = tenants.flatMap(({ owner: { workspaceId }, userIds }): Part[] => {
    const quarter = () => firstMs + random.below((days * dayMs) / quarterMs) * quarterMs;
    const range = (a: number, b: number) => ({
      workspaceId,
      from: new Date(Math.min(a, b)),
      to: new Date(Math.max(a, b) + quarterMs),
    });
    return [
      range(firstMs, end),
      range(quarter(), quarter()),
      { ...range(firstMs, end), userId: random.pick(userIds) },
      { ...range(quarter(), quarter()), userId: random.pick(userIds) },
    ];
  });
  return withClient(databaseUrl, async (client) => {
    const leads = await readLeads(client);
    await replayHistories(client, leads);
    await addExpectedPayouts(client, leads);
    const differences: Difference[] = [];
    for (const part of parts) differences.push(...(await compareTotals(database, part, leads)));
    for (const tenant of tenants) {
      differences.push(...(await compareOverview(database, { tenant, days }, leads, random)));
    }
    differences.push(...(await comparePayments(client)));
    return differences.slice(0, maxListed);
  });
}

/** Reads the leads, also erased ones, with the statuses that they had before their first change. */
async function readLeads(client: pg.Client): Promise<Map<string, RecountedLead>> {
  const { rows } = await client.query<RecountedLead & { id: string; createdAt: Date }>(`
    WITH known AS (
      SELECT *, false AS "isErased" FROM lead UNION ALL SELECT *, true FROM erased_lead
    )
    SELECT id, s1, "isErased", workspace_id AS "workspaceId", campaign_id AS "campaignId", user_id AS "userId",
      created_at AS "createdAt", status
    FROM known`);
  return new Map(rows.map(({ id, createdAt, ...lead }) => [id, { ...lead, createdMs: createdAt.getTime() }]));
}

async function replayHistories(client: pg.Client, leads: ReadonlyMap<string, RecountedLead>): Promise<void> {
  for (const table of ['lead_change', 'erased_change']) {
    let after = { id: '00000000-0000-0000-0000-000000000000', version: 0 };
    for (;;) {
      const { rows } = await client.query<{
        id: string;
        version: number;
        status: LeadStatus | null;
        payout: { from?: RecountedPayout; to?: RecountedPayout } | null;
      }>(
        `SELECT lead_id AS id, version, to_status AS status, fields->'payout' AS payout FROM ${table}
        WHERE (lead_id, version) > ($1::uuid, $2::int) ORDER BY lead_id, version LIMIT ${historyPage}`,
        [after.id, after.version],
      );
      for (const { id, status, payout } of rows) {
        const lead = leads.get(id);
        if (lead === undefined) throw new Error(`The history of ${id} has no lead`);
        lead.status = status ?? lead.status;
        // An equal payout is noted without values.
        if (payout !== null && ('from' in payout || 'to' in payout)) lead.payout = payout.to;
      }
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last;
    }
  }
}

/** Removes the payouts of trashed leads, and gives leads on hold those of the present rules. */
async function addExpectedPayouts(
  client: pg.Client,
  leads: ReadonlyMap<string, RecountedLead>,
): Promise<void> {
  const { rows } = await client.query<RecountedPayout & { campaignId: string; userId: string | null }>(`
    SELECT campaign_id AS "campaignId", user_id AS "userId", amount::text, currency FROM publisher_payout
    UNION ALL
    SELECT id, NULL, payout_amount::text, payout_currency FROM campaign WHERE payout_amount IS NOT NULL`);
  const rules = new Map(rows.map((rule) => [`${rule.campaignId} ${rule.userId ?? ''}`, rule]));
  for (const lead of leads.values()) {
    if (lead.status === 'Trashed') lead.payout = undefined;
    if (lead.status === 'OnHold') {
      lead.payout ??= rules.get(`${lead.campaignId} ${lead.userId}`) ?? rules.get(`${lead.campaignId} `);
    }
  }
}

async function compareTotals(
  database: Database,
  { from, to, ...scope }: Part,
  leads: ReadonlyMap<string, RecountedLead>,
): Promise<Difference[]> {
  const totals = await createPayoutStore(database).totals(scope, { from, to });
  const summed = new Map(
    totals.map(({ campaignId, userId, status, currency = '-', leads: count, amount = '0' }) => [
      [campaignId, userId, status, currency].join(' '),
      { count, units: unitsOf(amount) },
    ]),
  );
  const recounted = new Map<string, { count: number; units: bigint }>();
  for (const { workspaceId, campaignId, userId, createdMs, status, payout } of leads.values()) {
    if (workspaceId !== scope.workspaceId || (scope.userId ?? userId) !== userId) continue;
    if (createdMs < from.getTime() || createdMs >= to.getTime()) continue;
    const key = [campaignId, userId, status, payout?.currency ?? '-'].join(' ');
    const sum = recounted.get(key) ?? { count: 0, units: 0n };
    sum.count += 1;
    sum.units += unitsOf(payout?.amount ?? '0');
    recounted.set(key, sum);
  }
  const textOf = (sum: { count: number; units: bigint } | undefined) =>
    `${sum?.count ?? 0} leads, ${sum?.units ?? 0n}`;
  return [...new Set([...summed.keys(), ...recounted.keys()])].flatMap((key) => {
    const [total, recount] = [textOf(summed.get(key)), textOf(recounted.get(key))];
    const what = `${from.toISOString()} to ${to.toISOString()}: ${key}`;
    return total === recount ? [] : [{ what, total, recount }];
  });
}

/** Compares the counts of each payment with its leads, and its paid leads with the histories of all leads. */
async function comparePayments(client: pg.Client): Promise<Difference[]> {
  const { rows } = await client.query<Difference>(`
    WITH listed AS (
      SELECT payment_id AS id, count(*) AS total, count(version) AS leads,
        coalesce(sum(amount) FILTER (WHERE version IS NOT NULL), 0) AS amount,
        count(*) FILTER (WHERE state = 'skipped') AS skipped,
        count(*) FILTER (WHERE state = 'returned') AS returned, count(*) FILTER (WHERE state = 'kept') AS kept
      FROM payment_lead GROUP BY 1
    ), entry AS (
      SELECT workspace_id, lead_change.lead_id, reason FROM lead_change JOIN lead ON lead.id = lead_id
      WHERE to_status = 'Paid' AND reason LIKE 'Payment %'
      UNION ALL
      SELECT workspace_id, erased_change.lead_id, reason FROM erased_change JOIN erased_lead ON erased_lead.id = lead_id
      WHERE to_status = 'Paid' AND reason LIKE 'Payment %'
    ), noted AS (
      SELECT workspace_id, reason, count(*) AS entries, count(DISTINCT lead_id) AS leads FROM entry GROUP BY 1, 2
    )
    SELECT 'payment ' || payment.number AS what,
      concat_ws(' ', payment.total, payment.leads, trim_scale(payment.amount), payment.skipped, payment.returned,
        payment.kept) AS total,
      concat_ws(' ', listed.total, listed.leads, trim_scale(listed.amount), listed.skipped, listed.returned,
        listed.kept) AS recount
    FROM payment LEFT JOIN listed ON listed.id = payment.id
    WHERE (payment.total, payment.leads, payment.amount, payment.skipped, payment.returned, payment.kept)
      IS DISTINCT FROM (listed.total, listed.leads, listed.amount, listed.skipped, listed.returned, listed.kept)
    UNION ALL
    SELECT 'history of payment ' || payment.number, payment.leads::text,
      concat_ws(' ', coalesce(noted.entries, 0), coalesce(noted.leads, 0))
    FROM payment LEFT JOIN noted
      ON noted.workspace_id = payment.workspace_id AND noted.reason = 'Payment ' || payment.number
    WHERE (payment.leads, payment.leads) <> (coalesce(noted.entries, 0), coalesce(noted.leads, 0))`);
  return rows;
}
