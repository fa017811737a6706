import { createLeadStore } from '@leads/core/db';
import { DisposeStack } from '@leads/core/dispose-stack';
import { changeStatuses, type LeadQuery, type LeadStore, listLeads } from '@leads/core/lead';
import { openForBench, query } from '../stack/database.ts';
import { median, percentile, scaled } from '../statistics.ts';
import { type ListBench, viewers } from './bench.ts';
import { filled } from './fill.ts';

/** The page size of page 1,000. 10,000 leads have that many pages. */
const deepLimit = 5;
const usualSamples = 300;
/** The time limit for one query and size. */
const usualTimeMs = 6_000;

interface Size {
  readonly leads: number;
  readonly store: LeadStore;
  readonly queries: Readonly<Record<string, LeadQuery>>;
  /** The oldest leads on hold. Each changes its status once; the measured pages keep their leads. */
  readonly onHold: string[];
}

/** Measures each query in the databases of all sizes in turn, and then a status change. */
export async function measureQueries({ databases, sizes: numbers, effort, onProgress }: ListBench) {
  await using resources = new DisposeStack();
  const sizes: Size[] = [];
  for (const leads of numbers) {
    const url = await databases.open(leads);
    const store = createLeadStore(resources.use(openForBench(url)));
    const onHold = await query<{ id: string }>(
      url,
      `SELECT id FROM lead WHERE workspace_id = $1 AND status = 'OnHold' ORDER BY created_at LIMIT 1000`,
      [filled.large],
    );
    sizes.push({ leads, store, queries: await queriesOf(url, store), onHold: onHold.map(({ id }) => id) });
  }
  const measure = async (name: string, run: (size: Size) => Promise<unknown>) => {
    onProgress(`  ${name}`);
    const times = sizes.map((): number[] => []);
    const samples = scaled(usualSamples, effort, 2);
    const deadline = performance.now() + usualTimeMs * effort * sizes.length;
    for (let sample = -Math.min(20, samples); sample < samples; sample++) {
      if (sample >= 2 && performance.now() > deadline) break;
      for (const [at, size] of sizes.entries()) {
        const start = performance.now();
        await run(size);
        if (sample >= 0) times[at]?.push(performance.now() - start);
      }
    }
    return sizes.map(({ leads }, at) => {
      const all = times[at] ?? [];
      const p50Ms = median(all);
      /** p50 as a multiple of p50 with the first size. */
      const growth = p50Ms / median(times[0] ?? []);
      return { query: name, leads, p50Ms, p99Ms: percentile(all, 0.99), growth, samples: all.length };
    });
  };
  const figures = [];
  for (const name of Object.keys(sizes[0]?.queries ?? {})) {
    const viewer = name.endsWith('publisher') ? viewers.publisher : viewers.owner;
    figures.push(await measure(name, ({ store, queries }) => listLeads(store, viewer, queries[name] ?? {})));
  }
  const changeStatus = async ({ store, onHold }: Size) => {
    const id = onHold.pop();
    if (id !== undefined) await changeStatuses(store, viewers.owner, { ids: [id], status: 'Approved' });
  };
  figures.push(await measure('a status change', changeStatus));
  return figures.flat();
}

/** Returns queries with each filter alone, each kind of search, both orders, the first and a deep page. */
async function queriesOf(databaseUrl: string, leads: LeadStore): Promise<Record<string, LeadQuery>> {
  const [lead] = await query<Record<'name' | 'phone' | 's1' | 'id' | 'email', string>>(
    databaseUrl,
    `SELECT id, name, phone, s1, email FROM lead
    WHERE workspace_id = $1 AND s1 IS NOT NULL AND email IS NOT NULL AND phone_e164 IS NOT NULL
    ORDER BY created_at LIMIT 1 OFFSET 1000`,
    [filled.large],
  );
  if (lead === undefined) throw new Error('The database has too few leads to query');
  const digits = lead.phone.replaceAll(/[^0-9]/g, '');
  const limit = String(deepLimit);
  return {
    'first page': {},
    [`first page of ${deepLimit}`]: { limit },
    [`page 1,000 of ${deepLimit}`]: { limit, cursor: await cursorAfter(leads, 999 * deepLimit) },
    'first page, publisher': {},
    'oldest first': { sort: 'createdAt' },
    'sort by updatedAt': { sort: '-updatedAt' },
    'sort by status': { sort: 'status' },
    'sort by status, two statuses': { sort: 'status', status: 'OnHold,Paid' },
    'sort by country': { sort: 'country', has: 'country' },
    status: { status: 'Approved' },
    'status, rare': { status: 'Paid' },
    campaignCode: { campaignCode: 'C0' },
    'campaignCode, rare': { campaignCode: 'RARE' },
    createdFrom: { createdFrom: '2025-12-01' },
    createdTo: { createdTo: '2024-06-01' },
    updatedSince: { updatedSince: '2025-12-31' },
    'updatedSince, by updatedAt': { updatedSince: '2025-06-01', sort: 'updatedAt' },
    s1: { s1: lead.s1 },
    lpName: { lpName: 'offer-0' },
    'lpName, rare': { lpName: 'rare' },
    source: { source: 'intake' },
    'source, rare': { source: 'crm' },
    phone: { phone: lead.phone },
    'q: common name': { q: 'maria' },
    'q: rare name': { q: 'hopper' },
    'q: two names': { q: 'nora hopper' },
    'q: phone, last digits': { q: digits.slice(-7) },
    'q: phone, first digits': { q: digits.slice(0, 9) },
    'q: email': { q: lead.email },
    'q: id': { q: lead.id },
  };
}

/** Returns the cursor after a number of leads. */
async function cursorAfter(leads: LeadStore, position: number): Promise<string> {
  let cursor: string | undefined;
  for (let left = position; left > 0; left -= 1000) {
    const limit = String(Math.min(left, 1000));
    const page = await listLeads(leads, viewers.owner, { limit, ...(cursor !== undefined && { cursor }) });
    cursor = page.nextCursor;
    if (cursor === undefined) throw new Error(`The large workspace has fewer than ${position} leads`);
  }
  return cursor as string;
}
