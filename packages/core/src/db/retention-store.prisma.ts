import type { RetainedCampaign, RetentionCursor, RetentionStore } from '../retention/retention-store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/** Leads that are too old, in Postgres. */
export function createRetentionStore({ select, transaction }: Database): RetentionStore {
  const quarantined = (campaignId: string, before: Date) => Prisma.sql`
    lead_quarantine WHERE lead->>'campaignId' = ${campaignId}
      AND (lead->>'createdAt')::timestamptz < ${before.toISOString()}::timestamptz`;
  return {
    campaigns: () =>
      select<RetainedCampaign>(Prisma.sql`
        SELECT campaign.id, code, slug AS workspace, retention_days AS "retentionDays"
        FROM campaign JOIN workspace ON workspace.id = workspace_id
        WHERE retention_days IS NOT NULL ORDER BY slug, code`),

    async count(campaignId, before) {
      const [row] = await select<{ leads: number }>(Prisma.sql`
        SELECT (
          (SELECT count(*) FROM lead
            WHERE campaign_id = ${campaignId}::uuid AND created_at < ${before.toISOString()}::timestamptz)
          + (SELECT count(*) FROM ${quarantined(campaignId, before)})
        )::float8 AS leads`);
      return row?.leads ?? 0;
    },

    deleteOldest: (campaignId, before, { most, after }) =>
      transaction(async (tx) => {
        // For the transaction and not for the session, which a pooler may share.
        const [turn] = await tx.$queryRaw<{ isOurs: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${advisoryLocks.retention}) AS "isOurs"`;
        if (turn?.isOurs !== true) return undefined;
        const onward =
          after === undefined
            ? Prisma.empty
            : Prisma.sql`AND (created_at, id) > (${after.createdAt.toISOString()}::timestamptz, ${after.id}::uuid)`;
        const oldest = await tx.$queryRaw<RetentionCursor[]>`
          SELECT id::text, created_at AS "createdAt" FROM lead
          WHERE campaign_id = ${campaignId}::uuid AND created_at < ${before.toISOString()}::timestamptz ${onward}
          ORDER BY created_at, id LIMIT ${most} FOR UPDATE SKIP LOCKED`;
        const ids = oldest.map(({ id }) => id);
        if (ids.length > 0) await tx.$queryRaw`SELECT erased_leads FROM erase_leads(${ids}::uuid[])`;
        return { leads: ids.length, last: oldest.at(-1) };
      }),

    async deleteQuarantined(campaignId, before) {
      const rows = await select(Prisma.sql`DELETE FROM ${quarantined(campaignId, before)} RETURNING id`);
      return rows.length;
    },
  };
}
