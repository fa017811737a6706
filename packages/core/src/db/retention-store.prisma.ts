import type { RetainedCampaign, RetentionCursor, RetentionStore } from '../retention/retention-store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/** Creates the retention store in Postgres. */
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

    deleteOldest: (campaignId, before, { maxLeads, after }) =>
      transaction(async (tx) => {
        // A session lock would outlive the transaction on a pooler's shared connection.
        const [lock] = await tx.$queryRaw<{ isOurs: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${advisoryLocks.retention}) AS "isOurs"`;
        if (lock?.isOurs !== true) return undefined;
        const pastCursor =
          after === undefined
            ? Prisma.empty
            : Prisma.sql`AND (created_at, id) > (${after.createdAt.toISOString()}::timestamptz, ${after.id}::uuid)`;
        const oldest = await tx.$queryRaw<RetentionCursor[]>`
          SELECT id::text, created_at AS "createdAt" FROM lead
          WHERE campaign_id = ${campaignId}::uuid AND created_at < ${before.toISOString()}::timestamptz ${pastCursor}
          ORDER BY created_at, id LIMIT ${maxLeads} FOR UPDATE SKIP LOCKED`;
        const ids = oldest.map(({ id }) => id);
        if (ids.length > 0) await tx.$queryRaw`SELECT erased_leads FROM erase_leads(${ids}::uuid[])`;
        return { leads: ids.length, last: oldest.at(-1) };
      }),

    async countAuditEntries(before) {
      const [row] = await select<{ entries: number }>(Prisma.sql`
        SELECT count(*)::float8 AS entries FROM audit_entry WHERE at < ${before.toISOString()}::timestamptz`);
      return row?.entries ?? 0;
    },

    deleteAuditEntries: (before, maxEntries) =>
      transaction(async (tx) => {
        // The trigger of the append-only log permits the deletion in this transaction.
        await tx.$queryRaw`SELECT FROM set_config('leads.erasing', 'on', true)`;
        return tx.$executeRaw`
          DELETE FROM audit_entry WHERE id IN (
            SELECT id FROM audit_entry WHERE at < ${before.toISOString()}::timestamptz ORDER BY at LIMIT ${maxEntries})`;
      }),

    async deleteQuarantined(campaignId, before, maxLeads) {
      const rows = await select(Prisma.sql`
        DELETE FROM lead_quarantine WHERE id IN (
          SELECT id FROM ${quarantined(campaignId, before)} ORDER BY lead->>'createdAt', id LIMIT ${maxLeads}
        ) RETURNING id`);
      return rows.length;
    },
  };
}
