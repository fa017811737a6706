import { createLeadStore, type Database } from '@leads/core/db';
import { listLeads } from '@leads/core/lead';
import pg from 'pg';
import { median } from '../statistics.ts';
import { prepareBatch } from './fill.ts';
import { openForBench, type QueryCase, queryCases, viewers } from './queries.ts';

export interface IndexPrice {
  readonly index: string;
  readonly bytes: number;
  /** Leads inserted a second with the index, and without it. */
  readonly insertsWith: number;
  readonly insertsWithout: number;
  /** The time that the index takes of an insert, from 0 to 1: the median of rounds, each with and without it. */
  readonly share: number;
  /** The measured queries whose plans have it. */
  readonly usedBy: readonly string[];
}

const usual = { rounds: 25, batch: 500 };

/**
 * What each index on leads costs an insert, and which queries it is for. An index is dropped, leads are inserted,
 * and both are rolled back, in turn with the same insert and every index in place.
 */
export async function measureIndexPrices(
  databaseUrl: string,
  leads: number,
  effort: number,
  onProgress: (line: string) => void,
): Promise<IndexPrice[]> {
  const users = await indexUsers(databaseUrl);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: indexes } = await client.query<{ name: string; bytes: number }>(`
      SELECT indexrelid::regclass::text AS name, pg_relation_size(indexrelid)::float8 AS bytes
      FROM pg_index WHERE indrelid = 'lead'::regclass AND NOT indisprimary ORDER BY name`);
    const batch = usual.batch;
    const insert = await prepareBatch(client, leads, batch);
    const timeInsert = async (dropped?: string) => {
      await client.query('BEGIN');
      if (dropped !== undefined) await client.query(`DROP INDEX ${dropped}`);
      const start = performance.now();
      await client.query(insert);
      const tookMs = performance.now() - start;
      await client.query('ROLLBACK');
      return tookMs;
    };
    const prices: IndexPrice[] = [];
    for (const { name, bytes } of indexes) {
      onProgress(`Measuring the price of ${name}`);
      const pairs: { withMs: number; withoutMs: number }[] = [];
      const rounds = Math.max(1, Math.round(usual.rounds * effort));
      // The first round finds caches cold.
      for (let round = -1; round < rounds; round++) {
        const pair = { withMs: await timeInsert(), withoutMs: await timeInsert(name) };
        if (round >= 0) pairs.push(pair);
      }
      const rate = (times: number[]) => batch / (median(times) / 1000);
      prices.push({
        index: name,
        bytes,
        insertsWith: rate(pairs.map(({ withMs }) => withMs)),
        insertsWithout: rate(pairs.map(({ withoutMs }) => withoutMs)),
        share: median(pairs.map(({ withMs, withoutMs }) => 1 - withoutMs / withMs)),
        usedBy: users.get(name) ?? [],
      });
    }
    await client.query('VACUUM lead');
    return prices;
  } finally {
    await client.end();
  }
}

/** By index, the queries that Postgres plans to answer by it. */
async function indexUsers(databaseUrl: string): Promise<Map<string, string[]>> {
  await using database = openForBench(databaseUrl);
  const cases = await queryCases(databaseUrl, createLeadStore(database));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const users = new Map<string, string[]>();
    for (const { name, viewer, query } of cases) {
      for (const index of await indexesOf({ viewer, query }, database, client)) {
        users.set(index, [...(users.get(index) ?? []), name]);
      }
    }
    return users;
  } finally {
    await client.end();
  }
}

/** The indexes in the plan of the statement that the store would run. */
async function indexesOf(
  { viewer, query }: Pick<QueryCase, 'viewer' | 'query'>,
  database: Database,
  client: pg.Client,
): Promise<Set<string>> {
  const indexes = new Set<string>();
  const explain = async (statement: { text: string; values: unknown[] }) => {
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${statement.text}`, statement.values);
    for (const [, name] of JSON.stringify(rows).matchAll(/"Index Name":"([^"]+)"/g)) indexes.add(name ?? '');
    return [];
  };
  await listLeads(createLeadStore({ ...database, selectTexts: explain }), viewers[viewer], query);
  return indexes;
}
