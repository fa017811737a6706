import { createOverviewStore } from '@leads/core/db';
import { openForBench, query } from '../stack/database.ts';
import { randomOf } from './random.ts';
import {
  changeAtRandom,
  type ChangedWorkspaces,
  finishPayments,
  keepErasedHistories,
  type RequestCounts,
} from './random-changes.ts';
import { compareWithRecount } from './recount.ts';
import type { Difference } from './recounted.ts';
import { createTenants } from './tenants.ts';

/** The number of comparisons of a large run. */
const maxRounds = 10;
const entriesPerAggregation = 5_000;
/** A few changes of few leads reach the same states as many changes of many leads. */
const small = { changes: 10_000, days: 4, maxBatch: 10 };
const large = { days: 60, maxBatch: 150 };

/**
 * Compares the totals of payouts with a recount from the histories, several times during random changes.
 *
 * @param databaseUrl an empty migrated database.
 * @param options.beforeRound called with the number of the round, from 0.
 */
export async function compareTotals(
  databaseUrl: string,
  options: {
    changes: number;
    connections: number;
    seed: number;
    onProgress: (line: string) => void;
    beforeRound?: (round: number) => Promise<void>;
  },
) {
  const { changes, connections, seed, onProgress, beforeRound } = options;
  onProgress(`Seed ${seed}`);
  const startMs = performance.now();
  await keepErasedHistories(databaseUrl);
  await using database = openForBench(databaseUrl, connections);
  const tenants = await createTenants(databaseUrl, database);
  const { days, maxBatch } = changes < small.changes ? small : large;
  const where: ChangedWorkspaces = { databaseUrl, database, tenants, days, maxBatch };
  const requests: RequestCounts = {};
  const random = randomOf(seed);
  const compare = () => compareWithRecount(where, random);
  const overview = createOverviewStore(database);
  const aggregateAll = async () => {
    while ((await overview.aggregate(entriesPerAggregation)) > 0);
  };
  const perRound = Math.ceil(changes / maxRounds);
  let differences: Difference[] = [];
  let made = await countChanges(databaseUrl);
  for (let round = 0; made.changes < changes && differences.length === 0; round++) {
    await beforeRound?.(round);
    await changeAtRandom(where, {
      changes: Math.min(perRound, changes - made.changes),
      connections,
      // Another round makes other changes.
      seed: seed + round * connections,
      counts: requests,
    });
    made = await countChanges(databaseUrl);
    differences = await compare();
    if (differences.length === 0 && round % 2 === 1) {
      await aggregateAll();
      differences = await compare();
    }
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
    onProgress(`  ${made.changes} changes, ${differences.length} differences, ${seconds} s`);
  }
  if (differences.length === 0) {
    await finishPayments(database);
    await aggregateAll();
    made = await countChanges(databaseUrl);
    differences = await compare();
  }
  return {
    seed,
    connections,
    ...made,
    seconds: (performance.now() - startMs) / 1_000,
    requests,
    differences,
  };
}

/** Counts what the database has recorded. Each created, changed or erased lead is one change. */
async function countChanges(databaseUrl: string) {
  const [row] = await query<{
    leads: number;
    erased: number;
    entries: number;
    payments: number;
    [name: string]: number;
  }>(
    databaseUrl,
    `SELECT leads::float8, erased::float8, (kept + gone)::float8 AS entries, payments::float8,
      (leads + erased * 2 + kept + gone)::float8 AS changes
    FROM (SELECT count(*) AS leads FROM lead) AS a, (SELECT count(*) AS erased FROM erased_lead) AS b,
      (SELECT count(*) AS kept FROM lead_change) AS c, (SELECT count(*) AS gone FROM erased_change) AS d,
      (SELECT count(*) AS payments FROM payment) AS e`,
  );
  return row as { leads: number; erased: number; entries: number; payments: number; changes: number };
}
