import { createHash } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addTenant,
  createTestDatabase,
  databaseOptions,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import type { Principal } from '../credential/principal.ts';
import type { LeadQuery } from '../lead/lead.schema.ts';
import type { LeadPosition, LeadSelection, LeadStore } from '../lead/lead-store.ts';
import { type LeadChoice, selectLeads } from '../lead/list-leads.ts';
import type { Sort } from '../lead/sort-fields.ts';
import { firstId } from '../uuid.ts';
import { createAttentionStore } from './attention-store.prisma.ts';
import { type Database, openDatabase } from './client.ts';
import { createEventLog } from './event-log.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';

/*
 * Checks the query plans of leads: no query scans all leads. The workspace has 30,000 leads, and the rare values are in
 * old leads. A scan from the newest lead to the first rare one would read many times the pages that are allowed here.
 */

const leads = 30_000;
/** The maximum pages of 8 KiB read for 101 leads: two for each lead, plus a margin. The table has 1,098 pages. */
const maxPages = 330;
/** The maximum of a search, which scans 3,000 leads first. A page holds few leads of one publisher. */
const maxPagesOfSearch = 2 * maxPages;
/** The maximum if no index has the requested order: one page for each lead of the limited scan. */
const maxPagesOfScan = 10_000 + maxPages;
/** The maximum if each lead of the limited scan is looked up in the index of a payment. */
const maxPagesOfLookups = 3 * maxPagesOfScan;
/** The maximum of a count, which reads every matching lead. */
const maxPagesOfCount = 2_000;

let database: TestDatabase;
let opened: Database;
let tenant: Tenant;
const publishers = {
  busy: '0190ffff-0000-7000-8000-000000000001',
  rare: '0190ffff-0000-7000-8000-000000000002',
};
const paymentIds = {
  rare: '0190eeee-0000-7000-8000-000000000001',
  large: '0190eeee-0000-7000-8000-000000000002',
};

beforeAll(async () => {
  database = await createTestDatabase();
  opened = openDatabase(databaseOptions(database.url));
  tenant = await addTenant(database, 'large');
  await addTenant(database, 'small');
  await database.query(`
    INSERT INTO "user" (id, name, email, updated_at)
    SELECT id::uuid, 'Publisher', id || '@example.io', now()
    FROM unnest(ARRAY['${publishers.busy}', '${publishers.rare}']) AS id;
    INSERT INTO lead (
      id, workspace_id, campaign_id, user_id, source, status, name, phone, phone_e164, email, s1, lp_name, country, words,
      created_at, updated_at, assignee_id, callback_at
    )
    SELECT
      (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '9'
        || substr(md5(n::text), 4, 15))::uuid,
      '${tenant.workspaceId}',
      CASE WHEN is_rare THEN '${tenant.otherCampaignId}' ELSE '${tenant.campaignId}' END::uuid,
      CASE WHEN is_rare THEN '${publishers.rare}' WHEN n % 3 = 0 THEN '${publishers.busy}'
        ELSE '${tenant.userId}' END::uuid,
      CASE WHEN is_rare THEN 'crm' ELSE 'intake' END::lead_source,
      CASE WHEN is_rare THEN 'Paid' WHEN n % 4 = 1 THEN 'Approved' ELSE 'OnHold' END::lead_status,
      name, '+44 20 ' || digits, '+4420' || digits, 'person' || n || '@mail.io', 'click-' || n,
      CASE WHEN is_rare THEN 'rare' ELSE 'offer' END, CASE WHEN is_rare THEN 'FR' ELSE 'GB' END,
      ARRAY['4420' || digits, lower(name), 'person' || n, 'mail', 'io'], at, at + (n % 10) * interval '1 hour',
      CASE WHEN is_rare THEN '${publishers.rare}' WHEN n % 5 = 0 THEN '${tenant.userId}' END::uuid,
      CASE WHEN is_rare THEN at END
    FROM (
      SELECT n, n < 10000 AND n % 500 = 0 AS is_rare, timestamptz '2025-01-01' + n * interval '10 minutes' AS at,
        lpad((n * 7919 % 100000000)::text, 8, '0') AS digits,
        CASE WHEN n < 10000 AND n % 500 = 1 THEN 'Hopper' WHEN n % 4 = 0 THEN 'Maria' ELSE 'Anna' END AS name
      FROM generate_series(1, ${leads}) AS n
    ) AS numbered;
    -- The other workspaces.
    INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, created_at, updated_at)
    SELECT gen_random_uuid(), workspace_id, campaign.id, '${tenant.userId}', 'crm', 'OnHold', 'Ada', '1', at, at
    FROM campaign, generate_series(timestamptz '2025-01-01', '2025-07-01', '6 hours') AS at
    WHERE code = 'default' AND workspace_id <> '${tenant.workspaceId}';
    -- A payment of old leads, and one of a quarter of all leads.
    INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date)
    SELECT id::uuid, '${tenant.workspaceId}', number, '${tenant.userId}', '${tenant.userId}', now(), now(), 'EUR', now()
    FROM (VALUES ('${paymentIds.rare}', 1), ('${paymentIds.large}', 2)) AS payment (id, number);
    INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount)
    SELECT (CASE WHEN status = 'Paid' THEN '${paymentIds.rare}' ELSE '${paymentIds.large}' END)::uuid, id, workspace_id, 1
    FROM lead WHERE status IN ('Paid', 'Approved');`);
  await database.query('VACUUM ANALYZE lead, payment_lead');
  // Postgres then explains the statements that the store runs, which are not run a second time.
  await database.query(`
    LOAD 'auto_explain';
    SET auto_explain.log_analyze = on;
    SET auto_explain.log_buffers = on;
    SET auto_explain.log_timing = off;
    SET auto_explain.log_format = json;
    SET auto_explain.log_level = notice;`);
  // The store sets the acting workspace for every statement.
  await database.query(`SELECT set_config('leads.workspace', $1, false)`, [tenant.workspaceId]);
});

afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const scopes = {
  owner: { role: 'owner', userId: () => tenant.userId },
  publisher: { role: 'publisher', userId: () => publishers.busy },
  'rare publisher': { role: 'publisher', userId: () => publishers.rare },
} as const;
type Scope = keyof typeof scopes;

/** The id of a lead, by its number. */
const idOf = (n: number) => {
  const at = Date.UTC(2025, 0, 1) + n * 600_000;
  const hash = createHash('md5').update(String(n)).digest('hex');
  const digits = `${at.toString(16).padStart(12, '0')}7${hash.slice(0, 3)}9${hash.slice(3, 18)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

/** Every filter alone, with a common value and with a rare one. */
const filters: Record<string, LeadQuery & LeadChoice> = {
  'no filter': {},
  // The ids of old leads.
  ids: { ids: Array.from({ length: 20 }, (_, n) => idOf(n + 1)) },
  status: { status: 'Approved' },
  'rare status': { status: 'Paid' },
  'two statuses': { status: 'OnHold,Approved' },
  'rare statuses': { status: 'Paid,Trashed' },
  user: { user: publishers.busy },
  'rare user': { user: publishers.rare },
  campaignCode: { campaignCode: 'default' },
  'rare campaignCode': { campaignCode: 'extra' },
  'unknown campaignCode': { campaignCode: 'none' },
  createdFrom: { createdFrom: '2025-03-01' },
  createdTo: { createdTo: '2025-03-01' },
  updatedSince: { updatedSince: '2025-03-01' },
  'updatedSince, newest': { updatedSince: '2025-07-28' },
  s1: { s1: 'click-2500' },
  lpName: { lpName: 'offer' },
  'rare lpName': { lpName: 'rare' },
  country: { country: 'GB' },
  'rare country': { country: 'FR' },
  source: { source: 'intake' },
  'rare source': { source: 'crm' },
  phone: { phone: '+44 20 1979 7500' },
  payment: { payment: paymentIds.large },
  'rare payment': { payment: paymentIds.rare },
  'internal: assignee': { assignee: 'me' },
  'internal: rare assignee': { assignee: publishers.rare },
  'internal: no assignee': { assignee: 'none' },
  'internal: rare callback': { callbackDue: 'true' },
  'q: common name': { q: 'maria' },
  'q: rare name': { q: 'hopper' },
  'q: beginning of an email': { q: 'person2500' },
  'q: end of a phone number': { q: '19797500' },
  'q: beginning of a phone number': { q: '+44 20 19797' },
  'q: id': { q: '01944a7f' },
  'q: sub-id': { q: 'click-2500' },
  'q: common campaign': { q: 'default' },
  'q: rare campaign': { q: 'extra' },
};

/** The filters that a role may use. */
const filtersOf = (scope: Scope) =>
  Object.keys(filters).filter((filter) => scope === 'owner' || !filter.startsWith('internal:'));

const halfWay: LeadPosition = { time: new Date('2025-04-15'), id: '0195ffff-0000-7000-8000-000000000000' };

const sorts = ['-createdAt', 'createdAt', '-updatedAt', 'updatedAt'] as const;
/** The other sort orders, with a filter that they need and a position that is far from both ends. */
const otherSorts = [
  { sort: 'status', needed: {}, after: { ...halfWay, value: 'OnHold' } },
  { sort: 'country', needed: { has: 'country' }, after: { ...halfWay, value: 'GB' } },
  { sort: '-source', needed: {}, after: { ...halfWay, value: 'intake' }, only: 'no filter' },
  { sort: '-callbackAt', needed: { has: 'callbackAt' }, after: halfWay, only: 'no filter' },
  { sort: 'lpName', needed: { has: 'lpName' }, after: { ...halfWay, value: 'offer' } },
  { sort: 'campaign', needed: {}, after: { ...halfWay, value: firstId } },
] as const;

/** Every order of a list with one filter. Publishers have few indexes, so their other orders are like `updatedAt`. */
const ordersOf = (scope: Scope, filter: string) => {
  const byTime = sorts.flatMap((sort) =>
    [undefined, halfWay].map((after) => ({ sort, after, query: Object.assign({ sort }, filters[filter]) })),
  );
  const others = otherSorts
    .filter((each) => scope === 'owner' && (!('only' in each) || each.only === filter))
    .map(({ sort, needed, after }) => ({
      sort,
      after,
      query: Object.assign({ sort }, needed, filters[filter]),
    }));
  return [byTime, others].flat();
};

const cases = (Object.keys(scopes) as Scope[]).flatMap((scope) =>
  filtersOf(scope).flatMap((filter) =>
    ordersOf(scope, filter).map(({ sort, query, after }) => ({
      name: `${scope}, ${filter}, ${sort}${after === undefined ? '' : ', later'}`,
      scope,
      filter,
      query,
      after,
    })),
  ),
);

/** Whether so many leads may match that a scan of the whole table is the best plan. */
function mayReadAll(scope: Scope, query: LeadQuery, sort: string): boolean {
  const { createdFrom, createdTo, updatedSince, status, q, payment } = query;
  // A quarter of all leads is of the payment.
  if (payment === paymentIds.large) return true;
  // A quarter of all leads was created before the day, and no index has these leads in another order.
  if (createdTo !== undefined && (!sort.endsWith('createdAt') || updatedSince !== undefined)) return true;
  // Three quarters of all leads were created since the day and are of the campaign.
  if (createdFrom !== undefined && q === 'default' && sort.endsWith('updatedAt')) return true;
  // A twelfth of all leads matches, which is fewer than the first statement scans.
  return (
    scope === 'publisher' &&
    status?.includes('Approved') === true &&
    (q !== undefined || updatedSince !== undefined || payment !== undefined)
  );
}

/** Whether an index has the leads of a filter in the requested order, or the filter matches only a few. */
function isInOrder(scope: Scope, filter: string, sort: string): boolean {
  if (/^(ids|s1|phone|internal: rare callback)/.test(filter)) return true;
  if (filter === 'internal: no assignee' || filter.endsWith('payment')) return false;
  if (sort.endsWith('createdAt')) return !filter.startsWith('updatedSince');
  if (scope !== 'owner') return false;
  // Few leads have a time to call back.
  if (sort.endsWith('callbackAt') || filter === 'no filter') return true;
  return sort.endsWith('updatedAt')
    ? filter.startsWith('updatedSince')
    : filter === 'status' && sort === 'status';
}

/** Returns the maximum of a query whose filter has no index in the requested order. */
const maxPagesOfOrder = ({ payment }: LeadQuery) =>
  payment === undefined ? maxPagesOfScan : maxPagesOfLookups;

test.each(cases)(
  'a page and an export read few pages of the table ($name)',
  async ({ scope, filter, query, after }) => {
    const maxPagesOfFilter = filter.startsWith('q:') ? maxPagesOfSearch : maxPages;
    const limit = isInOrder(scope, filter, query.sort) ? maxPagesOfFilter : maxPagesOfOrder(query);
    for (const question of ['page', 'export'] as const) {
      const plan = await explain(scope, query, { question, after });
      expect(plan.readsAll && !mayReadAll(scope, filters[filter] ?? {}, query.sort), plan.text).toBe(false);
      expect(plan.pages, plan.text).toBeLessThan(limit);
    }
  },
);

/** The orders by a value, each with its index, a filter that it needs, and a value with many leads. */
const valueOrders = {
  status: { index: 'lead_by_status_idx', value: () => 'OnHold' },
  source: { index: 'lead_by_source_idx', value: () => 'intake' },
  campaign: { index: 'lead_by_campaign_idx', value: () => tenant.campaignId },
  user: { index: 'lead_by_user_idx', value: () => publishers.busy },
  country: { index: 'lead_by_country_idx', has: 'country', value: () => 'GB' },
  s1: { index: 'lead_workspace_id_s1_created_at_id_idx', has: 's1', value: () => 'click-2500' },
  lpName: { index: 'lead_workspace_id_lp_name_created_at_id_idx', has: 'lpName', value: () => 'offer' },
  assignee: { index: 'lead_by_assignee_idx', has: 'assignee', value: () => tenant.userId },
} as const;

test.each(
  Object.entries(valueOrders).flatMap(([by, order]) => [
    { sort: by as Sort, ...order },
    { sort: `-${by}` as Sort, ...order },
  ]),
)('a list sorted by $sort reads the index $index in its order, from any position', async (order) => {
  const { sort, index, value } = order;
  const query = 'has' in order ? { sort, has: order.has } : { sort };
  for (const after of [undefined, { ...halfWay, value: value() }]) {
    for (const question of ['page', 'export'] as const) {
      const { text, pages } = await explain('owner', query, { question, after });
      expect(text).toContain(index);
      expect(pages, text).toBeLessThan(maxPages);
    }
  }
});

/** All pairs of filters that have no field in common. */
const pairsOf = (scope: Scope) => {
  const names = filtersOf(scope).filter((name) => name !== 'no filter' && name !== 'payment');
  return names.flatMap((one, i) =>
    names
      .slice(i + 1)
      .filter((two) => !Object.keys(filters[one] ?? {}).some((field) => field in (filters[two] ?? {})))
      .map((two) => ({ name: `${one} and ${two}`, query: { ...filters[one], ...filters[two] } })),
  );
};

describe.each(['owner', 'publisher'] as const)('a list of the %s with two filters', (scope) => {
  // An index is read in both directions, which the lists with one filter show.
  test.each(['-createdAt', 'updatedAt'] as const)(
    'reads few pages of the table if sorted by %s',
    async (sort) => {
      for (const { name, query } of pairsOf(scope)) {
        const { readsAll, pages, text } = await explain(scope, { ...query, sort });
        expect([name, readsAll && !mayReadAll(scope, query, sort)], text).toEqual([name, false]);
        expect(pages, `${name}: ${text}`).toBeLessThan(maxPagesOfOrder(query));
      }
    },
  );
});

describe.each(Object.keys(scopes) as Scope[])('a count of the %s', (scope) => {
  test.each(filtersOf(scope))('reads few pages of the table (%s)', async (filter) => {
    const { readsAll, pages } = await explain(scope, filters[filter] ?? {}, { question: 'count' });
    const areFew =
      scope === 'rare publisher' || /rare|newest|unknown|^ids|^s1|^phone|^q: (?!common)/.test(filter);
    expect(readsAll && areFew).toBe(false);
    // A count reads all matching leads: at most the table and an index.
    expect(pages).toBeLessThan(areFew ? maxPages : maxPagesOfCount);
  });
});

/** Without its index, each query reads more pages than the maximum. */
test.each<[index: string, scope: Scope, query: LeadQuery]>([
  ['lead_by_creation_idx', 'owner', {}],
  ['lead_by_user_idx', 'rare publisher', {}],
  ['lead_by_update_idx', 'owner', { sort: '-updatedAt' }],
  ['lead_by_status_idx', 'owner', { status: 'Paid' }],
  ['lead_by_source_idx', 'owner', { source: 'crm' }],
  ['lead_by_campaign_idx', 'owner', { campaignCode: 'extra' }],
  ['lead_workspace_id_s1_created_at_id_idx', 'owner', { s1: 'click-2500' }],
  ['lead_workspace_id_lp_name_created_at_id_idx', 'owner', { lpName: 'rare' }],
  ['lead_by_country_idx', 'owner', { country: 'FR' }],
  ['lead_by_phone_end_idx', 'owner', { phone: '+44 20 1979 7500' }],
  ['lead_workspace_id_words_idx', 'owner', { q: 'hopper' }],
  ['lead_by_assignee_idx', 'owner', { assignee: publishers.rare }],
  ['lead_by_callback_idx', 'owner', { callbackDue: 'true' }],
])('the index %s is needed', async (index, scope, query) => {
  const kept = await explain(scope, query);
  await database.query('BEGIN');
  try {
    await database.query(`DROP INDEX ${index}`);
    const dropped = await explain(scope, query);
    expect(kept.text).toContain(index);
    expect(dropped.pages).toBeGreaterThan(maxPages);
  } finally {
    await database.query('ROLLBACK');
  }
});

test('a count of due call-backs reads the index of the call-backs, and no other leads', async () => {
  const { text, pages } = await explainStatements((explained) =>
    createAttentionStore(explained).findCallbacks(
      { workspaceId: tenant.workspaceId, userId: tenant.userId },
      1_001,
    ),
  );
  expect(text).toContain('lead_by_callback_idx');
  expect(pages).toBeLessThan(maxPages);
});

test('every index of leads is among the tested ones', async () => {
  const rows = await database.query<{ index: string }>(
    `SELECT indexname AS index FROM pg_indexes WHERE tablename = 'lead' AND indexname <> 'lead_pkey'`,
  );
  // Only the end of hold times reads the index of approvals, and its condition says so.
  expect(rows.filter(({ index }) => index !== 'lead_by_approval_idx')).toHaveLength(13);
});

test('the publication of an event looks up its lead only', async () => {
  await database.query(`
    TRUNCATE lead_outbox, lead_event_log, lead_event_log_state;
    INSERT INTO lead_outbox (lead_ids, versions) SELECT ARRAY[id], ARRAY[1] FROM lead LIMIT 10;
    SET auto_explain.log_nested_statements = on`);
  const publish = (explained: Database) => createEventLog(explained).publishNext(1);
  // Postgres keeps the plans of a function from its sixth run on.
  for (let run = 1; run <= 6; run++) await explainStatements(publish);
  const { readsAll, text } = await explainStatements(publish);
  await database.query('SET auto_explain.log_nested_statements = off');
  expect(text).toContain('"Relation Name": "lead"');
  expect(readsAll, text).toBe(false);
});

test('due leads are found by the index of approvals, by one plan for any number of leads', async () => {
  await database.query(`
    BEGIN;
    SET LOCAL plan_cache_mode = force_generic_plan;
    SET LOCAL auto_explain.log_nested_statements = on;
    UPDATE lead SET approve_at = now() WHERE id IN (SELECT id FROM lead WHERE status = 'OnHold' LIMIT 20)`);
  const { readsAll, text } = await explainStatements((explained) =>
    explained.select({ text: 'SELECT FROM take_due_leads(25)', values: [] }),
  );
  await database.query('ROLLBACK');
  expect(text).toContain('lead_by_approval_idx');
  expect(readsAll, text).toBe(false);
});

/** The queries of the store: a page of 100 leads plus one, a page of an export, a count. */
const questions = {
  page: (store: LeadStore, selection: LeadSelection, after?: LeadPosition) =>
    store.list(selection, { limit: 100, after }),
  export: (store: LeadStore, selection: LeadSelection, after?: LeadPosition) =>
    store.scan(selection, { limit: 32, after }),
  count: (store: LeadStore, selection: LeadSelection) => store.count(selection),
} as const;

/** Leaves values as the texts that Postgres sends. */
const unparsed = { getTypeParser: () => (text: string) => text } as pg.CustomTypesConfig;

/** Runs a query of the store, and returns the plans of its statements. */
function explain(
  scope: Scope,
  query: LeadQuery,
  { question = 'page', after }: { question?: keyof typeof questions; after?: LeadPosition | undefined } = {},
) {
  const { role, userId } = scopes[scope];
  const viewer = { workspaceId: tenant.workspaceId, role, userId: userId() } as Principal;
  return explainStatements((explained) =>
    questions[question](createLeadStore(explained), selectLeads(viewer, query), after),
  );
}

/** Runs work, and returns the plans of its statements and of the statements of functions. Postgres sends each as a notice. */
async function explainStatements(work: (explained: Database) => Promise<unknown>) {
  const client = await database.connect();
  const plans: PlanNode[] = [];
  const onNotice = ({ message = '' }: { message?: string | undefined }) => {
    plans.push((JSON.parse(message.slice(message.indexOf('{'))) as { Plan: PlanNode }).Plan);
  };
  client.on('notice', onNotice);
  await client.query('SET auto_explain.log_min_duration = 0');
  await work({
    ...opened,
    select: async <Row>({ text, values }: { text: string; values: unknown[] }) =>
      (await client.query({ text, values })).rows as Row[],
    selectTexts: async ({ text, values }) => {
      const options = { rowMode: 'array', types: unparsed } as const;
      return (await client.query<(string | null)[]>({ text, values, ...options })).rows;
    },
  });
  // In a transaction, Postgres sends the last plan with the next statement.
  await client.query('SET auto_explain.log_min_duration = -1');
  client.off('notice', onNotice);
  return {
    text: JSON.stringify(plans, undefined, 1),
    pages: plans
      .map((plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])
      .reduce((sum, pages) => sum + pages, 0),
    /** Whether a plan scans the whole table of leads. */
    readsAll: plans
      .flatMap(nodes)
      .some((node) => node['Relation Name'] === 'lead' && node['Node Type'] === 'Seq Scan'),
  };
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}
