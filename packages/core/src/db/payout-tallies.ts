import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/**
 * Adds the oldest entries of payouts to the tallies. It may run at any time and in several instances.
 *
 * @param limit the maximum number of entries.
 * @returns the number of entries; 0 while another instance aggregates.
 */
export async function aggregatePayouts(select: Database['select'], limit: number): Promise<number> {
  const [row] = await select<{ taken: number }>(Prisma.sql`
    WITH turn AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(${advisoryLocks.leadCounts}) AS is_ours
    ), taken AS (
      DELETE FROM payout_tally_entry WHERE id = ANY (ARRAY(
        SELECT id FROM payout_tally_entry WHERE (SELECT is_ours FROM turn) ORDER BY id LIMIT ${limit}
      ))
      RETURNING *
    ), added AS (
      INSERT INTO payout_tally AS kept (workspace_id, user_id, at, campaign_id, status, currency, leads, amount)
      SELECT workspace_id, user_id, at, campaign_id, status, currency, sum(leads), sum(amount)
      FROM taken GROUP BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (workspace_id, user_id, at, campaign_id, status, currency) DO UPDATE SET
        leads = kept.leads + excluded.leads, amount = kept.amount + excluded.amount
    )
    SELECT count(*)::int AS taken FROM taken`);
  return row?.taken ?? 0;
}
