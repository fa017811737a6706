import { createCampaignStore, createPayoutStore, createWorkspaceStore } from '@leads/core/db';
import { getStatement, type StatementQuery } from '@leads/core/payout';
import { openForBench, query, withClient } from '../stack/database.ts';
import { startProgram } from '../stack/programs.ts';
import { measureInTurn, median, medianRatio, scaled, timeOf } from '../statistics.ts';
import { aggregateLeads } from './aggregate.ts';
import { issueOwnerCredentials, type ListBench, viewers } from './bench.ts';
import { filled } from './fill.ts';

const usualRounds = 15;
const requiredMs = 300;
const year = { from: '2025-01-01', to: '2025-12-31' };

/** The days of the statements: the second year of the leads, the same from midnight to midnight in a zone, and both years. */
const ranges: Readonly<Record<string, StatementQuery>> = {
  'a year': year,
  'a year, Europe/Berlin': { ...year, zone: 'Europe/Berlin' },
  'a year, one publisher': { ...year, user: filled.publisher },
  'two years': { from: '2024-01-01', to: '2025-12-31' },
};

/** The query of a hand-written statement, without the expected amounts of leads on hold. */
const groupedByHand = `
  SELECT user_id, campaign_id, status, payout_currency, count(*)::float8 AS leads, sum(payout_amount)::text AS amount
  FROM lead WHERE workspace_id = $1 AND created_at >= $2 AND created_at < $3 AND ($4::uuid IS NULL OR user_id = $4)
  GROUP BY 1, 2, 3, 4`;
const indexByHand = `
  CREATE INDEX by_hand_idx ON lead (workspace_id, created_at)
  INCLUDE (user_id, campaign_id, status, payout_currency, payout_amount)`;

/**
 * Measures statements of the large workspace in turn: from SQL, over HTTP, and by a hand-written query over all leads with a
 * covering index.
 *
 * @throws Error if the number of leads differs.
 */
export async function measureStatements({ databases, sizes, effort, onProgress }: ListBench) {
  const size = Math.max(...sizes);
  const databaseUrl = await databases.open(size);
  onProgress(`Aggregating ${size} leads for statements`);
  await aggregateLeads(databaseUrl);
  await query(databaseUrl, 'DROP INDEX IF EXISTS by_hand_idx');
  await query(databaseUrl, indexByHand);
  await query(databaseUrl, 'VACUUM ANALYZE lead');
  await using crm = await startProgram('crm', { databaseUrl });
  const headers = await issueOwnerCredentials(databaseUrl);
  await using database = openForBench(databaseUrl);
  const stores = {
    payouts: createPayoutStore(database),
    campaigns: createCampaignStore(database),
    workspaces: createWorkspaceStore(database),
  };
  const fromSql = async (range: StatementQuery) => {
    const { from, to, totals } = await getStatement(stores, viewers.owner, range);
    return { from, to, leads: totals.reduce((sum, { leads }) => sum + leads, 0) };
  };
  const overHttp = async (range: StatementQuery) => {
    const answer = await fetch(
      `http://127.0.0.1:${crm.port}/api/v1/statements?${new URLSearchParams(range).toString()}`,
      { headers },
    );
    const text = await answer.text();
    if (!answer.ok) throw new Error(`The statement is answered with ${answer.status}: ${text}`);
  };
  const figures = await withClient(databaseUrl, async (client) => {
    const measured = [];
    for (const [name, range] of Object.entries(ranges)) {
      const { from, to, leads } = await fromSql(range);
      const byHand = async () => {
        const values = [filled.large, from, to, range.user ?? null];
        const { rows } = await client.query<{ leads: number }>(groupedByHand, values);
        const counted = rows.reduce((sum, row) => sum + row.leads, 0);
        if (counted !== leads) throw new Error(`The statement has ${leads} leads, and there are ${counted}`);
      };
      const subjects = [() => fromSql(range), () => overHttp(range), byHand];
      const timesMs = await measureInTurn(subjects, scaled(usualRounds, effort), timeOf);
      const [sqlMs = [], httpMs = [], byHandMs = []] = timesMs;
      measured.push({
        statement: name,
        leads,
        sqlMs: median(sqlMs),
        httpMs: median(httpMs),
        maxHttpMs: Math.max(...httpMs),
        requiredMs,
        byHandMs: median(byHandMs),
        ratioToByHand: medianRatio(httpMs, byHandMs),
      });
    }
    return measured;
  });
  await query(databaseUrl, 'DROP INDEX by_hand_idx');
  return figures;
}
