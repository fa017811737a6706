import { createOverviewStore } from '@leads/core/db';
import { openForBench, query } from '../stack/database.ts';

const entriesPerAggregation = 50_000;
/** The databases whose leads this process has aggregated, by their connection strings. */
const aggregated = new Map<string, Promise<void>>();

/** Aggregates the leads for overviews and statements. The fill bypasses the triggers that record each insert. */
export function aggregateLeads(databaseUrl: string): Promise<void> {
  const aggregation = aggregated.get(databaseUrl) ?? aggregate(databaseUrl);
  aggregated.set(databaseUrl, aggregation);
  return aggregation;
}

async function aggregate(databaseUrl: string): Promise<void> {
  await query(
    databaseUrl,
    `BEGIN;
    TRUNCATE lead_tally, lead_tally_entry, payout_tally, payout_tally_entry;
    INSERT INTO lead_tally_entry (workspace_id, user_id, campaign_id, lp_name, at, status, leads, s1)
    SELECT workspace_id, user_id, campaign_id, lead_tally_name(lp_name), lead_tally_time(created_at), status,
      count(*), array_remove(array_agg(s1), NULL)
    FROM lead GROUP BY 1, 2, 3, 4, 5, 6;
    INSERT INTO payout_tally_entry (workspace_id, user_id, at, campaign_id, status, currency, leads, amount)
    SELECT workspace_id, user_id, date_bin('1 day', created_at, '2000-01-01T00:00:00Z'), campaign_id, status,
      payout_currency, count(*), sum(payout_amount)
    FROM lead WHERE payout_rule IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6;
    COMMIT`,
  );
  await using database = openForBench(databaseUrl);
  const store = createOverviewStore(database);
  while ((await store.aggregate(entriesPerAggregation)) > 0);
  await query(databaseUrl, 'VACUUM ANALYZE lead_tally, lead_tally_entry, payout_tally, payout_tally_entry');
}
