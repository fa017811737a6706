import type { LeadScope } from '../lead/lead-scope.ts';
import type {
  CampaignCounts,
  CountedRecord,
  OverviewStore,
  StatusCounts,
} from '../overview/overview-store.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { byStatus, counts, dayMs, iso, maxFirst, ofEachUser, ofLead, ofTally, sums } from './lead-tallies.ts';

/** Returns the start of an entry's UTC day, under a name. */
const dayOfEntry = (name: 'at' | 'day') =>
  Prisma.raw(`date_bin('1 day', at, '2000-01-01T00:00:00Z') AS ${name}`);

/** Returns the methods of the overview store that count the leads of campaigns. */
export function createCampaignCounts({
  select,
}: Pick<Database, 'select'>): Pick<
  OverviewStore,
  'countByCampaign' | 'countPublishersByCampaign' | 'countByPublisher'
> {
  /** Returns when the newest lead of each campaign was created. */
  const findNewest = async (scope: LeadScope) => {
    const { workspaceId, userId } = scope;
    const newest =
      userId === undefined
        ? Prisma.sql`
          SELECT id AS campaign_id, NULL::timestamptz AS day FROM campaign WHERE workspace_id = ${workspaceId}::uuid`
        : // A publisher may have few of a campaign's leads, so only those of the last counted day are read.
          Prisma.sql`
          SELECT campaign_id::uuid AS campaign_id, max(day) AS day FROM (
            SELECT value AS campaign_id, at AS day FROM lead_tally WHERE ${ofTally(scope)} AND kind = 'campaign'
            UNION ALL
            SELECT campaign_id::text, ${dayOfEntry('day')} FROM lead_tally_entry WHERE ${ofLead(scope)}
          ) AS counted GROUP BY 1`;
    const rows = await select<{ campaignId: string; createdAt: Date }>(
      Prisma.sql`
        SELECT campaign_id AS "campaignId", newest.created_at AS "createdAt" FROM (${newest}) AS counted,
        LATERAL (
          SELECT created_at FROM lead
          WHERE lead.campaign_id = counted.campaign_id AND ${ofLead(scope)}
            AND (day IS NULL OR created_at >= day AND created_at < day + interval '1 day')
          ORDER BY created_at DESC, lead.id DESC LIMIT 1
        ) AS newest`,
      { workspaceId },
    );
    return new Map(rows.map(({ campaignId, createdAt }) => [campaignId, createdAt]));
  };

  return {
    async countByCampaign(scope, now, days) {
      const first = new Date((Math.floor(now.getTime() / dayMs) - days + 1) * dayMs);
      // The days before the first are counted together.
      const day = Prisma.sql`CASE WHEN at >= ${iso(first)}::timestamptz THEN at END AS day`;
      const rows = await select<{ campaignId: string; day: Date | null } & StatusCounts>(
        Prisma.sql`
          SELECT value AS "campaignId", day, ${sums} FROM (
            SELECT value, ${day}, ${counts} FROM lead_tally
            WHERE ${ofTally(scope)} AND kind = 'campaign'
            UNION ALL
            SELECT value, ${day}, ${byStatus('leads')} FROM (
              SELECT campaign_id::text AS value, ${dayOfEntry('at')}, status, leads FROM lead_tally_entry
              WHERE ${ofLead(scope)}
            ) AS entry
          ) AS counted
          GROUP BY value, day`,
        { workspaceId: scope.workspaceId },
      );
      const newest = await findNewest(scope);
      const found = new Map<string, { total: Record<keyof StatusCounts, number>; days: number[] }>();
      for (const { campaignId, day: at, ...row } of rows) {
        let counted = found.get(campaignId);
        if (counted === undefined) {
          counted = {
            total: { OnHold: 0, Approved: 0, Paid: 0, Trashed: 0 },
            days: Array.from({ length: days }, () => 0),
          };
          found.set(campaignId, counted);
        }
        for (const status of ['OnHold', 'Approved', 'Paid', 'Trashed'] as const) {
          counted.total[status] += row[status];
        }
        const index = at === null ? -1 : Math.round((at.getTime() - first.getTime()) / dayMs);
        if (index >= 0 && index < days) {
          counted.days[index] = row.OnHold + row.Approved + row.Paid + row.Trashed;
        }
      }
      return [...found].map(
        ([campaignId, { total, days: counted }]): CampaignCounts => ({
          campaignId,
          total,
          days: counted,
          lastLeadAt: newest.get(campaignId),
        }),
      );
    },

    async countPublishersByCampaign(workspaceId, since) {
      const rows = await select<{
        campaignId: string;
        publishers: number;
        userId: string;
        name: string | null;
      }>(
        Prisma.sql`
          SELECT campaign_id AS "campaignId", publishers, user_id AS "userId", "user".name FROM (
            SELECT campaign_id, count(*)::int AS publishers, min(user_id::text) AS user_id FROM (
              SELECT campaign_id, user_id FROM (
                SELECT value AS campaign_id, of_id AS user_id, on_hold + trashed + paid + approved AS leads FROM lead_tally
                WHERE ${ofEachUser({ workspaceId })} AND kind = 'campaign' AND at >= ${iso(since)}::timestamptz
                UNION ALL
                SELECT campaign_id::text, user_id, leads FROM lead_tally_entry
                WHERE ${ofLead({ workspaceId })} AND at >= ${iso(since)}::timestamptz
              ) AS counted GROUP BY campaign_id, user_id HAVING sum(leads) > 0
            ) AS known GROUP BY campaign_id
          ) AS found LEFT JOIN "user" ON publishers = 1 AND "user".id = user_id::uuid
          ORDER BY campaign_id`,
        { workspaceId },
      );
      return rows.map(({ campaignId, publishers, userId, name }) =>
        Object.assign({ campaignId, publishers }, name === null ? {} : { only: { userId, name } }),
      );
    },

    countByPublisher: (workspaceId, campaignId, since) =>
      select<CountedRecord>(
        Prisma.sql`
          SELECT of_id AS value, "user".name, ${sums} FROM (
            SELECT of_id, ${counts} FROM lead_tally
            WHERE ${ofEachUser({ workspaceId })} AND kind = 'campaign' AND at >= ${iso(since)}::timestamptz
              AND value = ${campaignId}
            UNION ALL
            SELECT user_id, ${byStatus('leads')} FROM lead_tally_entry
            WHERE ${ofLead({ workspaceId })} AND campaign_id = ${campaignId}::uuid AND at >= ${iso(since)}::timestamptz
          ) AS counted JOIN "user" ON "user".id = of_id
          GROUP BY of_id, "user".name HAVING sum(on_hold + trashed + paid + approved) > 0
          ORDER BY ${maxFirst}, of_id`,
        { workspaceId },
      ),
  };
}
