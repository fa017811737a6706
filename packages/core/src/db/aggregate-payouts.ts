import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { aggregationLock } from './lead-tallies.ts';

/**
 * Adds the oldest entries of payouts to the tallies. It may run at any time and in several instances.
 *
 * @param limit the maximum number of entries.
 * @returns the number of entries; 0 while another instance aggregates.
 */
export async function aggregatePayouts(select: Database['select'], limit: number): Promise<number> {
  const statement = Prisma.sql`
    WITH ${aggregationLock}, taken AS (
      DELETE FROM payout_tally_entry WHERE id = ANY (ARRAY(
        SELECT id FROM payout_tally_entry WHERE (SELECT is_acquired FROM aggregation_lock) ORDER BY id LIMIT ${limit}
      ))
      RETURNING *
    ), added AS (
      INSERT INTO payout_tally AS tally (workspace_id, user_id, at, campaign_id, status, currency, leads, amount)
      SELECT workspace_id, user_id, at, campaign_id, status, currency, sum(leads), sum(amount)
      FROM taken GROUP BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (workspace_id, user_id, at, campaign_id, status, currency) DO UPDATE SET
        leads = tally.leads + excluded.leads, amount = tally.amount + excluded.amount
    )
    SELECT count(*)::int AS taken FROM taken`;
  const [row] = await select<{ taken: number }>(statement, { name: 'aggregate_payouts' });
  return row?.taken ?? 0;
}
