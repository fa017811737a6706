import { createLeadStore, type Database, openDatabase } from '@leads/core/db';
import { changeStatuses, type LeadQuery, type LeadStore, listLeads } from '@leads/core/lead';
import pg from 'pg';
import { median, percentile } from '../statistics.ts';
import { filled } from './fill.ts';

/** Who lists: an owner of the large workspace, and publishers in it. */
export const viewers = {
  owner: viewer('owner', filled.owner),
  publisher: viewer('publisher', filled.publisher),
} as const;

function viewer(role: 'owner' | 'publisher', userId: string) {
  return {
    workspaceId: filled.large,
    userId,
    role,
    apiKeyId: '',
    scope: 'full' as const,
    defaultCampaignId: undefined,
  };
}

/** A query whose pages are measured. */
export interface QueryCase {
  readonly name: string;
  readonly viewer: keyof typeof viewers;
  readonly query: LeadQuery;
}

export interface QueryFigures {
  readonly name: string;
  readonly leads: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly samples: number;
}

/** Page 1,000 in pages of so many leads, which ten thousand leads reach as well. */
const deepLimit = 5;
/** How many measurements each query is given, and how long at most, in milliseconds. */
const usual = { samples: 300, patienceMs: 6_000 };

/** Every filter alone, every kind of search, both orders, and the first and a deep page of the list. */
export async function queryCases(databaseUrl: string, leads: LeadStore): Promise<QueryCase[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let lead: Record<'name' | 'phone' | 's1' | 'id' | 'email', string> | undefined;
  try {
    const { rows } = await client.query<NonNullable<typeof lead>>(
      `SELECT id, name, phone, s1, email FROM lead
      WHERE workspace_id = $1 AND s1 IS NOT NULL AND email IS NOT NULL AND phone_e164 IS NOT NULL
      ORDER BY created_at LIMIT 1 OFFSET 1000`,
      [filled.large],
    );
    lead = rows[0];
  } finally {
    await client.end();
  }
  if (lead === undefined) throw new Error('The database holds too few leads to query');
  const owner = (name: string, query: LeadQuery): QueryCase => ({ name, viewer: 'owner', query });
  return [
    owner('first page', {}),
    owner(`first page of ${deepLimit}`, { limit: String(deepLimit) }),
    owner(`page 1,000 of ${deepLimit}`, {
      limit: String(deepLimit),
      cursor: await cursorBehind(leads, 999 * deepLimit),
    }),
    { name: 'first page, publisher', viewer: 'publisher', query: {} },
    owner('oldest first', { sort: 'createdAt' }),
    owner('sort by updatedAt', { sort: '-updatedAt' }),
    owner('status', { status: 'Approved' }),
    owner('status, rare', { status: 'Paid' }),
    owner('campaignCode', { campaignCode: 'C0' }),
    owner('campaignCode, rare', { campaignCode: 'RARE' }),
    owner('createdFrom', { createdFrom: '2025-12-01' }),
    owner('createdTo', { createdTo: '2024-06-01' }),
    owner('updatedSince', { updatedSince: '2025-12-31' }),
    owner('updatedSince, by updatedAt', { updatedSince: '2025-06-01', sort: 'updatedAt' }),
    owner('s1', { s1: lead.s1 }),
    owner('lpName', { lpName: 'offer-0' }),
    owner('lpName, rare', { lpName: 'rare' }),
    owner('source', { source: 'intake' }),
    owner('source, rare', { source: 'crm' }),
    owner('phone', { phone: lead.phone }),
    owner('q: common name', { q: 'maria' }),
    owner('q: rare name', { q: 'hopper' }),
    owner('q: two names', { q: 'nora hopper' }),
    owner('q: phone, last digits', { q: lead.phone.replaceAll(/[^0-9]/g, '').slice(-7) }),
    owner('q: phone, first digits', { q: lead.phone.replaceAll(/[^0-9]/g, '').slice(0, 9) }),
    owner('q: email', { q: lead.email }),
    owner('q: id', { q: lead.id }),
  ];
}

async function cursorBehind(leads: LeadStore, position: number): Promise<string> {
  let cursor: string | undefined;
  for (let left = position; left > 0; ) {
    const limit = Math.min(left, 1000);
    const page = await listLeads(leads, viewers.owner, {
      limit: String(limit),
      ...(cursor !== undefined && { cursor }),
    });
    cursor = page.nextCursor;
    if (cursor === undefined) throw new Error(`The large workspace has fewer than ${position} leads`);
    left -= limit;
  }
  return cursor as string;
}

/**
 * Measures each query in databases of several sizes, in turn, so that what else the machine does meets all alike.
 *
 * @param effort the share of the usual number of measurements.
 */
export async function measureQueries(
  databases: ReadonlyMap<number, string>,
  effort: number,
  onProgress: (line: string) => void,
): Promise<QueryFigures[]> {
  const opened = [...databases].map(([leads, url]) => ({ leads, url, database: openForBench(url) }));
  try {
    const sizes: Size[] = [];
    for (const { leads, url, database } of opened) {
      const store = createLeadStore(database);
      sizes.push({ leads, url, store, cases: await queryCases(url, store) });
    }
    return await measureSizes(sizes, effort, onProgress);
  } finally {
    for (const { database } of opened) await database[Symbol.asyncDispose]();
  }
}

interface Size {
  readonly leads: number;
  readonly url: string;
  readonly store: LeadStore;
  readonly cases: readonly QueryCase[];
}

async function measureSizes(
  sizes: readonly Size[],
  effort: number,
  onProgress: (line: string) => void,
): Promise<QueryFigures[]> {
  const figures: QueryFigures[] = [];
  const names = sizes[0]?.cases.map(({ name }) => name) ?? [];
  const measure = async (name: string, run: (size: Size) => Promise<unknown>) => {
    onProgress(`Measuring: ${name}`);
    const times = sizes.map((): number[] => []);
    const samples = Math.max(2, Math.round(usual.samples * effort));
    const warmUp = Math.min(20, samples);
    const deadline = performance.now() + usual.patienceMs * effort * sizes.length;
    for (let sample = -warmUp; sample < samples; sample++) {
      if (sample >= 2 && performance.now() > deadline) break;
      for (const [at, size] of sizes.entries()) {
        const start = performance.now();
        await run(size);
        if (sample >= 0) times[at]?.push(performance.now() - start);
      }
    }
    for (const [at, { leads }] of sizes.entries()) {
      const all = times[at] ?? [];
      figures.push({ name, leads, p50Ms: median(all), p99Ms: percentile(all, 0.99), samples: all.length });
    }
  };
  for (const [at, name] of names.entries()) {
    await measure(name, ({ store, cases }) => {
      const { viewer: who, query } = cases[at] as QueryCase;
      return listLeads(store, viewers[who], query);
    });
  }

  // Each lead is changed once; the oldest ones, so that the pages above stay what they are.
  const idsOf = new Map<number, string[]>();
  for (const { leads, url } of sizes) idsOf.set(leads, await oldestOnHold(url));
  await measure('a status change', async ({ leads, store }) => {
    const id = idsOf.get(leads)?.pop();
    if (id !== undefined) await changeStatuses(store, viewers.owner, { ids: [id], status: 'Approved' });
  });
  return figures;
}

async function oldestOnHold(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM lead WHERE workspace_id = $1 AND status = 'OnHold' ORDER BY created_at LIMIT 1000`,
      [filled.large],
    );
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

/** As the services open it, but patient: the slowest queries are to be measured, too. */
export function openForBench(url: string): Database {
  return openDatabase({
    url,
    poolSize: 2,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 120_000,
    applicationName: 'leads-bench',
  });
}
