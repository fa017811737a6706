import { requireRoom } from '../limits/caps.ts';
import type { PayoutStore, PayoutTotal, StoredPublisherPayout } from '../payout/payout-store.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { ofEachUser, ofLead, ofTally, wholeDays, within } from './lead-tallies.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

const columns = { userId: true, amount: true, currency: true, updatedAt: true } as const;

/** Creates the store of payouts in Postgres. */
export function createPayoutStore({ select, transaction }: Database): PayoutStore {
  const hasCampaign = async (tx: Transaction, workspaceId: string, id: string) =>
    (await tx.campaign.count({ where: { workspaceId, id } })) > 0;

  return {
    list: (workspaceId, campaignId) =>
      transaction(
        async (tx) => {
          const rows = await tx.publisherPayout.findMany({
            where: { workspaceId, campaignId },
            orderBy: { userId: 'asc' },
            select: columns,
          });
          if (rows.length === 0 && !(await hasCampaign(tx, workspaceId, campaignId))) return undefined;
          return rows.map(toStored);
        },
        { workspaceId },
      ),

    ofUser: (workspaceId, userId) =>
      transaction(
        async (tx) => {
          const rows = await tx.publisherPayout.findMany({ where: { workspaceId, userId } });
          return new Map(
            rows.map(({ campaignId, amount, currency }) => [
              campaignId,
              { amount: amount.toFixed(), currency },
            ]),
          );
        },
        { workspaceId },
      ),

    set: (workspaceId, campaignId, userId, { amount, currency }) =>
      transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const isMember = (await tx.member.count({ where: { workspaceId, userId } })) > 0;
          if (!isMember || !(await hasCampaign(tx, workspaceId, campaignId))) return undefined;
          const others = await tx.publisherPayout.count({ where: { campaignId, userId: { not: userId } } });
          requireRoom('publisherPayouts', others);
          const values = { amount, currency, updatedAt: new Date() };
          return toStored(
            await tx.publisherPayout.upsert({
              where: { campaignId_userId: { campaignId, userId } },
              create: { workspaceId, campaignId, userId, ...values },
              update: values,
              select: columns,
            }),
          );
        },
        { workspaceId },
      ),

    remove: (workspaceId, campaignId, userId) =>
      transaction(
        async (tx) => {
          const where = { workspaceId, campaignId, userId };
          const found = await tx.publisherPayout.findFirst({ where, select: columns });
          if (found === null) return undefined;
          const { count } = await tx.publisherPayout.deleteMany({ where });
          return count === 0 ? undefined : toStored(found);
        },
        { workspaceId },
      ),

    async totals(scope, range) {
      const { workspaceId, userId } = scope;
      const { days, partialDays } = wholeDays(range);
      const ofParts = (build: (span: typeof days) => Prisma.Sql) =>
        partialDays.map((span) => Prisma.sql`UNION ALL ${build(span)}`);
      const join = (parts: Prisma.Sql[]) => (parts.length === 0 ? Prisma.empty : Prisma.join(parts, ' '));
      const ofTallies = userId === undefined ? ofEachUser(scope) : ofTally(scope);
      const columnsOfTotal = Prisma.sql`campaign_id, user_id, status, currency, leads, amount`;
      const rows = await select<Record<string, unknown>>(
        Prisma.sql`
          WITH own AS (
            SELECT campaign_id, user_id, status, currency, sum(leads)::int AS leads, sum(amount) AS amount FROM (
              SELECT ${columnsOfTotal} FROM payout_tally WHERE ${ofLead(scope)} AND ${within('at', days)}
              UNION ALL
              SELECT ${columnsOfTotal} FROM payout_tally_entry WHERE ${ofLead(scope)} AND ${within('at', days)}
              ${join(
                ofParts(
                  (span) => Prisma.sql`
                    SELECT campaign_id, user_id, status, payout_currency, 1, payout_amount FROM lead
                    WHERE ${ofLead(scope)} AND ${within('created_at', span)} AND payout_rule IS NOT NULL AND status <> 'Trashed'
                    UNION ALL
                    SELECT campaign_id, user_id, status, payout_currency, leads, payout_amount FROM lead_tally_erased
                    WHERE ${ofLead(scope)} AND ${within('at', span)} AND payout_currency IS NOT NULL`,
                ),
              )}
            ) AS part GROUP BY 1, 2, 3, 4
          ), counted AS (
            SELECT campaign_id, user_id, status, sum(leads)::int AS leads FROM (
              SELECT value::uuid AS campaign_id, of_id AS user_id, each.status::lead_status AS status, each.leads
              FROM (
                -- Added up before the statuses become rows, because a year can have 100,000 tallies.
                SELECT value, of_id, sum(on_hold) AS on_hold, sum(trashed) AS trashed, sum(paid) AS paid,
                  sum(approved) AS approved
                FROM lead_tally WHERE ${ofTallies} AND kind = 'campaign' AND ${within('at', days)} GROUP BY 1, 2
              ) AS tally, LATERAL (VALUES
                ('OnHold', on_hold), ('Trashed', trashed), ('Paid', paid), ('Approved', approved)
              ) AS each (status, leads)
              UNION ALL
              SELECT campaign_id, user_id, status, leads FROM lead_tally_entry
              WHERE ${ofLead(scope)} AND ${within('at', days)}
              ${join(
                ofParts(
                  (span) => Prisma.sql`
                    SELECT campaign_id, user_id, status, 1 FROM lead WHERE ${ofLead(scope)} AND ${within('created_at', span)}
                    UNION ALL
                    SELECT campaign_id, user_id, status, leads FROM lead_tally_erased
                    WHERE ${ofLead(scope)} AND ${within('at', span)}`,
                ),
              )}
            ) AS part GROUP BY 1, 2, 3
          ), others AS (
            -- The leads without a payout of their own. Those on hold have the expected one.
            SELECT campaign_id, user_id, status, counted.leads - coalesce(owned.leads, 0)::int AS leads
            FROM counted LEFT JOIN (
              SELECT campaign_id, user_id, status, sum(leads) AS leads FROM own GROUP BY 1, 2, 3
            ) AS owned USING (campaign_id, user_id, status)
          ), total AS (
            SELECT * FROM own
            UNION ALL
            SELECT campaign_id, user_id, status, rules.currency, leads, leads * rules.amount
            FROM others LEFT JOIN LATERAL payout_by_rules(campaign_id, user_id) AS rules ON status = 'OnHold'
          )
          SELECT campaign_id AS "campaignId", user_id AS "userId", status, currency, sum(leads)::int AS leads,
            trim_scale(sum(amount))::text AS amount
          FROM total GROUP BY campaign_id, user_id, status, currency HAVING sum(leads) <> 0
          ORDER BY campaign_id, user_id, status, currency`,
        { workspaceId },
      );
      return rows.map((row) => withoutNulls(row) as unknown as PayoutTotal);
    },
  };
}

function toStored({
  amount,
  ...row
}: Omit<StoredPublisherPayout, 'amount'> & { amount: { toFixed(): string } }): StoredPublisherPayout {
  return { ...row, amount: amount.toFixed() };
}
