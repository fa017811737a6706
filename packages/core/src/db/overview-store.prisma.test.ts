import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { addTenant, leadOf } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import type { StoredLead } from '../lead/lead.ts';
import { getCountries, getOverview, getOverviewPayouts } from '../overview/get-overview.ts';
import { maxLeadsPerAggregation } from '../overview/lead-count-aggregator.ts';
import type { Overview, OverviewQuery } from '../overview/overview.schema.ts';
import { newId } from '../uuid.ts';
import { createLeadStore } from './lead-store.prisma.ts';
import { createOverviewStore } from './overview-store.prisma.ts';

// The timeout is long, because aggregating many leads takes long on a busy machine.
const [database, opened] = await openTestDatabase();
const tenant = await addTenant(database, 'ours');
const other = await addTenant(database, 'theirs');
const publisherId = newId();
await database.query(`
  INSERT INTO "user" (id, name, email, updated_at) VALUES ('${publisherId}', 'Publisher', 'p@example.io', now())`);

afterEach(() =>
  database.query(
    'DELETE FROM lead; DELETE FROM lead_tally_erased; DELETE FROM lead_tally; DELETE FROM lead_tally_entry',
  ),
);

const owner = () => ({ workspaceId: tenant.workspaceId, userId: tenant.userId, role: 'owner' }) as const;
const publisher = () =>
  ({ workspaceId: tenant.workspaceId, userId: publisherId, role: 'publisher' }) as const;
const overview = (
  viewer: ReturnType<typeof owner> | ReturnType<typeof publisher>,
  query: OverviewQuery,
  nowMs?: number,
) => getOverview(createOverviewStore(opened), viewer, query, nowMs);

const statuses = ['OnHold', 'Trashed', 'Paid', 'Approved'] as const;

/** Returns the hour of a time in a time zone, with two digits. */
const hourOf = (time: Date, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' }).format(time);

/** Computes the expected counts by iterating over the leads. */
function expectedCounts(
  leads: readonly StoredLead[],
  { from, to, steps, previous }: Overview,
  { zone = 'UTC' }: OverviewQuery,
  isOwner = true,
) {
  const countByStatus = (some: readonly StoredLead[]) =>
    Object.fromEntries(
      statuses.map((status) => [status, some.filter((lead) => lead.status === status).length]),
    );
  const between = (start: string, end: string) =>
    leads.filter(({ createdAt }) => createdAt >= new Date(start) && createdAt < new Date(end));
  const all = between(from, to);
  const by = (valueOf: (lead: StoredLead) => string | undefined) =>
    [...new Set(all.map(valueOf))]
      .filter((value) => value !== undefined)
      .map((value) => Object.assign({ value }, countByStatus(all.filter((lead) => valueOf(lead) === value))))
      .toSorted((one, another) => (one.value < another.value ? -1 : 1));
  return {
    steps: steps.map(({ start }, index) => ({
      start,
      ...countByStatus(between(start, steps[index + 1]?.start ?? to)),
    })),
    total: { total: all.length, ...countByStatus(all) },
    previous: countByStatus(between(previous.from, previous.to)),
    campaigns: by(({ campaignId }) => (campaignId === tenant.campaignId ? 'default' : 'extra')),
    publishers: isOwner ? by(({ userId }) => userId) : [],
    hours: by(({ createdAt }) => hourOf(createdAt, zone)),
    landingPages: by(({ lpName }) => (lpName !== undefined && lpName.length > 255 ? undefined : lpName)),
    s1: by(({ s1 }) => s1),
  };
}

/** Groups leads by a value. */
function groupsOf(leads: readonly StoredLead[], valueOf: (lead: StoredLead) => string) {
  return [...new Set(leads.map(valueOf))].map(
    (value) => [value, leads.filter((lead) => valueOf(lead) === value)] as const,
  );
}

/** Computes the expected counts of campaigns by iterating over the leads. */
function expectedCampaigns(leads: readonly StoredLead[], today: Date) {
  return groupsOf(leads, ({ campaignId }) => campaignId)
    .map(([campaignId, ofCampaign]) => ({
      campaignId,
      total: Object.fromEntries(
        statuses.map((status) => [status, ofCampaign.filter((lead) => lead.status === status).length]),
      ),
      days: Array.from({ length: 14 }, (_, index) => {
        const day = new Date(today.getTime() - (13 - index) * 86_400_000).toISOString().slice(0, 10);
        return ofCampaign.filter(({ createdAt }) => createdAt.toISOString().startsWith(day)).length;
      }),
      lastLeadAt: new Date(Math.max(...ofCampaign.map(({ createdAt }) => createdAt.getTime()))),
    }))
    .toSorted((one, another) => (one.campaignId < another.campaignId ? -1 : 1));
}

/** Converts an overview to the form of {@link expectedCounts}. */
function countsOf(found: Overview) {
  const counts = ({ OnHold, Trashed, Paid, Approved }: Overview['total']) => ({
    OnHold,
    Trashed,
    Paid,
    Approved,
  });
  const values = (rows: Overview['landingPages']) =>
    rows
      .map((row) => ({ value: row.value, ...counts(row) }))
      .toSorted((one, another) => (one.value < another.value ? -1 : 1));
  return {
    steps: found.steps,
    total: { total: found.total.total, ...counts(found.total) },
    previous: counts(found.previous),
    campaigns: values(found.campaigns),
    publishers: values(found.publishers),
    hours: values(
      found.hours.map(({ hour, ...counted }) => ({ ...counted, value: String(hour).padStart(2, '0') })),
    ),
    landingPages: values(found.landingPages),
    s1: values(found.s1),
  };
}

/** Replaces the counts by sub-id with their sum: after an erasure, the overview counts only whether a lead had one. */
const withoutS1 = (counted: ReturnType<typeof expectedCounts> | ReturnType<typeof countsOf>) => ({
  ...counted,
  s1: counted.s1.reduce(
    (sum, { OnHold = 0, Trashed = 0, Paid = 0, Approved = 0 }: Record<string, unknown>) =>
      sum + Number(OnHold) + Number(Trashed) + Number(Paid) + Number(Approved),
    0,
  ),
});

/** Draws times around the ends of daylight saving time in Europe and America. */
const times = fc
  .integer({ min: Date.UTC(2026, 9, 20) / 60_000, max: Date.UTC(2026, 10, 5) / 60_000 })
  .map((minutes) => new Date(minutes * 60_000));

const drawnLead = fc.record({
  createdAt: times,
  status: fc.constantFrom(...statuses),
  isExtra: fc.boolean(),
  isPublishers: fc.boolean(),
  isOthers: fc.nat(4).map((n) => n === 0),
  lpName: fc.option(fc.constantFrom('offer', 'Offer', 'quiz', '', 'ä 100%', 'x'.repeat(300)), {
    nil: undefined,
  }),
  country: fc.option(fc.constantFrom('GB', 'gb', 'x'.repeat(65)), { nil: undefined }),
  s1: fc.option(fc.constantFrom('click-1', 'click-2', ''), { nil: undefined }),
});

const drawnQuery = fc
  .record({
    first: fc.integer({ min: 18, max: 37 }),
    length: fc.constantFrom(0, 1, 2, 6, 120, 800),
    zone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', 'UTC'),
  })
  .map(({ first, length, zone }) => ({
    from: new Date(Date.UTC(2026, 9, first)).toISOString().slice(0, 10),
    to: new Date(Date.UTC(2026, 9, first + length)).toISOString().slice(0, 10),
    zone,
  }));

test(
  'the overview counts every lead before and after aggregation, status changes and erasures',
  { timeout: 120_000 },
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(drawnLead, { maxLength: 40 }),
        fc.array(drawnQuery, { minLength: 1, maxLength: 3 }),
        fc.array(fc.constantFrom(...statuses), { maxLength: 30 }),
        fc.integer({ min: Date.UTC(2026, 9, 20), max: Date.UTC(2026, 10, 8) }),
        async (drawn, queries, changes, nowMs) => {
          await database.query(
            'DELETE FROM lead; DELETE FROM lead_tally_erased; DELETE FROM lead_tally; DELETE FROM lead_tally_entry',
          );
          const store = createOverviewStore(opened);
          const leads = drawn.map(({ isExtra, isPublishers, isOthers, ...fields }) => {
            const of = isOthers ? other : tenant;
            return leadOf(of, {
              ...fields,
              updatedAt: fields.createdAt,
              campaignId: isExtra ? of.otherCampaignId : of.campaignId,
              ...(isPublishers && { userId: publisherId }),
            });
          });
          if (leads.length > 0) await createLeadStore(opened).insert(leads);
          const compare = async () => {
            const ours = leads.filter(({ workspaceId }) => workspaceId === tenant.workspaceId);
            const ofPublisher = ours.filter(({ userId }) => userId === publisherId);
            const now = new Date(nowMs);
            for (const [scope, some] of [
              [{ workspaceId: tenant.workspaceId }, ours],
              [{ workspaceId: tenant.workspaceId, userId: publisherId }, ofPublisher],
            ] as const) {
              const found = await store.countByCampaign(scope, now, 14);
              expect(
                found.toSorted((one, another) => (one.campaignId < another.campaignId ? -1 : 1)),
              ).toEqual(expectedCampaigns(some, now));
            }
            const since = new Date('2026-10-25T00:00:00Z');
            const publishers = await store.countByPublisher(tenant.workspaceId, tenant.campaignId, since);
            const recent = ours.filter(
              ({ campaignId, createdAt }) => campaignId === tenant.campaignId && createdAt >= since,
            );
            expect(
              Object.fromEntries(
                publishers.map((row) => [row.value, statuses.reduce((sum, status) => sum + row[status], 0)]),
              ),
            ).toEqual(
              Object.fromEntries(
                groupsOf(recent, ({ userId }) => userId).map(([userId, some]) => [userId, some.length]),
              ),
            );
            for (const query of queries) {
              const all = await overview(owner(), query, nowMs);
              expect(countsOf(all)).toEqual(expectedCounts(ours, all, query));
              const own = await overview(publisher(), query, nowMs);
              const countries = await getCountries(store, publisher(), query);
              expect(Object.fromEntries(countries.map(({ value, total }) => [value, total]))).toEqual(
                Object.fromEntries(
                  groupsOf(
                    ofPublisher.filter(
                      ({ country, createdAt }) =>
                        country !== undefined &&
                        createdAt >= new Date(own.from) &&
                        createdAt < new Date(own.to),
                    ),
                    ({ country }) => (country ?? '').slice(0, 64),
                  ).map(([country, some]) => [country, some.length]),
                ),
              );
              expect(countsOf(own)).toEqual(expectedCounts(ofPublisher, own, query, false));
            }
          };
          await compare();
          await store.aggregate(20);
          await compare();
          for (const [index, status] of changes.entries()) {
            const lead = leads[index];
            if (lead !== undefined) leads[index] = { ...lead, status };
          }
          const changed = leads.slice(0, changes.length);
          // Writes the statuses directly: the rules of transitions apply to the history, not to the counts.
          await database.query(
            `UPDATE lead SET status = sent.status::lead_status, city = 'Paris'
             FROM unnest($1::uuid[], $2::text[]) AS sent (id, status) WHERE lead.id = sent.id`,
            [changed.map(({ id }) => id), changed.map(({ status }) => status)],
          );
          await compare();
          while ((await store.aggregate(20)) > 0);
          expect(await database.query('SELECT 1 FROM lead_tally_entry')).toEqual([]);
          await compare();

          await database.query('SELECT erase_leads($1)', [
            leads.filter((_, index) => index % 3 > 0).map(({ id }) => id),
          ]);
          for (const query of queries) {
            const found = await overview(owner(), query);
            const counted = withoutS1(countsOf(found));
            const ours = leads.filter(({ workspaceId }) => workspaceId === tenant.workspaceId);
            const expected = withoutS1(expectedCounts(ours, found, query));
            expect({ ...counted, s1: counted.s1 + found.s1Others }).toEqual(expected);
          }
        },
      ),
      { numRuns: 25 },
    ),
);

test.each([
  ['a part of a day', '2026-03-11', '2026-03-11', '2026-03-11T09:07:30Z', '2026-03-10T09:07:30.000Z'],
  ['days that end today', '2026-03-10', '2026-03-11', '2026-03-11T09:07:30Z', '2026-03-09T09:07:30.000Z'],
  ['days that end later', '2026-03-11', '2026-03-14', '2026-03-11T09:00:00Z', '2026-03-07T09:00:00.000Z'],
  ['days that have ended', '2026-03-10', '2026-03-11', '2026-03-12T00:00:00Z', '2026-03-10T00:00:00.000Z'],
])('the overview compares %s with the same span before', async (_case, from, to, now, end) => {
  const leads = [-1, 1]
    .map((ms) => new Date(Date.parse(end) + ms))
    .map((createdAt) => leadOf(tenant, { createdAt, updatedAt: createdAt }));
  await createLeadStore(opened).insert(leads);
  const { previous, steps } = await overview(owner(), { from, to }, Date.parse(now));
  expect(previous).toMatchObject({ to: end, total: 1 });
  // Nothing of the rest of the previous days is in the first step.
  expect(steps[0]?.OnHold).toBe(previous.to === `${from}T00:00:00.000Z` ? 1 : 0);
});

test('the overview compares two chosen ranges, and cuts the compared range at the same point if the first has not ended', async () => {
  const days = ['2026-01-05', '2026-01-06', '2026-03-10', '2026-03-11', '2026-03-12'];
  const at = days.flatMap((day) => [new Date(`${day}T08:00:00Z`), new Date(`${day}T20:00:00Z`)]);
  await createLeadStore(opened).insert(
    at.map((time) => leadOf(tenant, { createdAt: time, updatedAt: time })),
  );
  const compared = async (changes: Partial<OverviewQuery>, now: string) => {
    const query = {
      from: '2026-03-10',
      to: '2026-03-11',
      compareFrom: '2026-01-05',
      compareTo: '2026-01-06',
    };
    const { total, previous } = await overview(owner(), { ...query, ...changes }, Date.parse(now));
    return [total.total, previous.total, previous.to.slice(0, 16)];
  };
  expect(await compared({}, '2026-05-01T00:00:00Z')).toEqual([4, 4, '2026-01-07T00:00']);
  expect(await compared({}, '2026-03-11T12:00:00Z')).toEqual([4, 3, '2026-01-06T12:00']);
  expect(await compared({ compareTo: '2026-01-05' }, '2026-03-11T12:00:00Z')).toEqual([
    4,
    2,
    '2026-01-06T00:00',
  ]);
  // The compared range may overlap the range, or be after it.
  const later = { compareFrom: '2026-03-11', compareTo: '2026-03-12' };
  expect(await compared(later, '2026-05-01T00:00:00Z')).toEqual([4, 4, '2026-03-13T00:00']);
});

test('the payouts of steps are left out if more than 200,000 leads would be read for them', async () => {
  const query = { from: '2026-05-01', to: '2026-05-01' };
  const stepsWith = async (leads: number) => {
    await database.query('DELETE FROM lead_tally');
    await database.query(
      `INSERT INTO lead_tally (workspace_id, of_id, kind, at, value, on_hold, trashed, paid, approved)
       VALUES ($1, $1, 'time', '2026-05-01T15:00:00Z', '', $2, 0, 0, 0)`,
      [tenant.workspaceId, leads],
    );
    return (await getOverviewPayouts(createOverviewStore(opened), owner(), query)).steps?.length;
  };
  expect(await stepsWith(200_000)).toBe(24);
  expect(await stepsWith(200_001)).toBeUndefined();
});

test('the overview compares a day whose clocks change with the same time of the day before', async () => {
  const compared = async (day: string, now: string) => {
    const query = { from: day, to: day, zone: 'Europe/Berlin' };
    return (await overview(owner(), query, Date.parse(now))).previous.to;
  };
  // The clocks are set from 2 to 3 on 29 March, and from 3 to 2 on 25 October.
  expect(await compared('2026-03-29', '2026-03-29T00:30:00Z')).toBe('2026-03-28T00:30:00.000Z');
  expect(await compared('2026-03-30', '2026-03-30T21:59:00Z')).toBe('2026-03-29T22:00:00.000Z');
  expect(await compared('2026-10-25', '2026-10-25T22:59:00Z')).toBe('2026-10-24T22:00:00.000Z');
});

test('the overview counts every lead if inserts and aggregations run at the same time', async () => {
  const leadStore = createLeadStore(opened);
  const store = createOverviewStore(opened);
  const at = new Date('2026-05-01T12:00:00Z');
  const insert = async () => {
    for (let round = 0; round < 20; round++) {
      await leadStore.insert([leadOf(tenant, { createdAt: at, updatedAt: at })]);
    }
  };
  const aggregate = async () => {
    for (let round = 0; round < 20; round++) await store.aggregate(3);
  };
  await Promise.all([insert(), aggregate(), insert(), aggregate()]);
  const { total } = await overview(owner(), { from: '2026-05-01', to: '2026-05-01' });
  expect(total).toMatchObject({ total: 40, OnHold: 40, approveRate: 0, approveRateWithoutTrash: 0 });
});

test('the overview lists the 20 values with the most leads, and a rate is null if its divisor is 0', async () => {
  const at = new Date('2026-05-01T12:00:00Z');
  const leads = Array.from({ length: 25 }, (_, index) =>
    Array.from({ length: index + 1 }, () =>
      leadOf(tenant, {
        createdAt: at,
        updatedAt: at,
        status: 'Trashed',
        lpName: `page-${index}`,
        s1: `s-${index}`,
      }),
    ),
  ).flat();
  await createLeadStore(opened).insert(leads);
  const { landingPages, s1, total } = await overview(owner(), { from: '2026-05-01', to: '2026-05-01' });
  const names = (prefix: string) => Array.from({ length: 20 }, (_, index) => `${prefix}-${24 - index}`);
  expect(landingPages.map(({ value }) => value)).toEqual(names('page'));
  expect(s1.map(({ value }) => value)).toEqual(names('s'));
  expect(total).toMatchObject({ approveRate: 0, approveRateWithoutTrash: null });
  const empty = await overview(owner(), { from: '2026-06-01', to: '2026-06-01' });
  expect(empty.total).toMatchObject({ total: 0, approveRate: null, approveRateWithoutTrash: null });
});

test('the tallies count the first 100 sub-ids of a day separately and all others together', async () => {
  const store = createOverviewStore(opened);
  const leadStore = createLeadStore(opened);
  const day = (n: number) => new Date(Date.UTC(2026, 5, n, 12));
  const of = (s1: string, createdAt: Date) => leadOf(tenant, { s1, createdAt, updatedAt: createdAt });
  const aggregate = async () => {
    while ((await store.aggregate(50)) > 0);
  };
  const rows = async () => {
    const [row] = await database.query<{ rows: number }>(
      `SELECT count(*)::int AS rows FROM lead_tally WHERE kind IN ('s1', 's1_others') AND of_id = $1
         AND at >= '2026-06-01' AND at < '2026-06-03'`,
      [tenant.workspaceId],
    );
    return row?.rows;
  };
  const found = () => overview(owner(), { from: '2026-06-01', to: '2026-06-02' });

  const often = Array.from({ length: 30 }, () => of('often', day(1)));
  const late = of('late', day(1));
  await leadStore.insert([...often, ...Array.from({ length: 70 }, (_, n) => of(`first-${n}`, day(1)))]);
  await aggregate();
  await leadStore.insert(Array.from({ length: 70 }, (_, n) => of(`second-${n}`, day(1))));
  await leadStore.insert([late, of('often', day(1)), of('late', day(2)), of('late', day(2))]);
  await aggregate();
  // The first day has 100 values and one row for the others. The second day has one value.
  expect(await rows()).toBe(102);
  const before = await found();
  expect(before.total.total).toBe(174);
  expect(before.s1Others).toBe(70 - 29 + 1);
  expect(before.s1.slice(0, 2)).toMatchObject([
    { value: 'often', total: 31, OnHold: 31 },
    { value: 'late', total: 2 },
  ]);

  // A later change of a lead's status updates the row in which the lead is counted.
  await database.query(`UPDATE lead SET status = 'Approved' WHERE s1 IN ('often', 'late')`);
  await aggregate();
  expect(await rows()).toBe(102);
  const after = await found();
  expect(after.total).toMatchObject({ total: 174, Approved: 34, OnHold: 140 });
  expect(after.s1Others).toBe(before.s1Others);
  expect(after.s1.slice(0, 2)).toMatchObject([
    { value: 'often', total: 31, Approved: 31, OnHold: 0 },
    { value: 'late', total: 2, Approved: 2 },
  ]);
  const others = await database.query(
    `SELECT on_hold, approved FROM lead_tally WHERE kind = 's1_others' AND of_id = $1 AND at = '2026-06-01'`,
    [tenant.workspaceId],
  );
  expect(others).toEqual([{ on_hold: before.s1Others - 1, approved: 1 }]);
});

test.each<[field: string, query: OverviewQuery]>([
  ['zone', { from: '2026-01-01', to: '2026-01-01', zone: 'Nowhere/Land' }],
  ['to', { from: '2026-01-02', to: '2026-01-01' }],
  ['to', { from: '2010-01-01', to: '2026-01-01' }],
  ['from', { from: '2026-02-30', to: '2026-03-01' }],
  ['from', { from: '0000-01-01', to: '0000-01-01' }],
  ['compareTo', { from: '2026-01-01', to: '2026-01-01', compareFrom: '2025-01-01' }],
  ['compareFrom', { from: '2026-01-01', to: '2026-01-01', compareTo: '2025-01-01' }],
  ['compareTo', { from: '2026-01-01', to: '2026-01-01', compareFrom: '2025-01-02', compareTo: '2025-01-01' }],
])('the overview rejects an invalid %s in the query %j', async (path, query) => {
  await expect(overview(owner(), query)).rejects.toMatchObject({
    code: 'invalid_input',
    fields: [{ at: 'query', path }],
  });
});

test('the overview reads the leads of at most one day, and tallies for all other days', async () => {
  const leadsPerDay = 144;
  const insert = (first: number, last: number) =>
    database.query(`
      INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, lp_name, s1, created_at, updated_at)
      SELECT gen_random_uuid(), '${tenant.workspaceId}', '${tenant.campaignId}',
        CASE WHEN n % 20 = 0 THEN '${publisherId}' ELSE '${tenant.userId}' END::uuid, 'intake', 'OnHold', 'Ada', '1',
        'page-' || n % 30, 'click-' || n, at, at
      FROM (
        SELECT n, timestamptz '2025-01-01' + n * interval '1 day' / ${leadsPerDay} AS at
        FROM generate_series(${first}, ${last}) AS n
      ) AS numbered`);
  const aggregate = async () => {
    while ((await createOverviewStore(opened).aggregate(maxLeadsPerAggregation)) > 0);
  };
  // The statistics are taken while no entries wait, as is usual, so the planner expects none.
  await insert(30_001, 31_000);
  await aggregate();
  await database.query('VACUUM (ANALYZE, TRUNCATE false) lead_tally_entry');
  await insert(1, 30_000);
  await aggregate();
  await database.query('VACUUM ANALYZE lead');
  await database.query('VACUUM ANALYZE lead_tally');
  for (const viewer of [owner(), publisher()]) {
    for (const query of [
      { from: '2025-01-05', to: '2025-07-20', zone: 'Asia/Kolkata' },
      { from: '2025-06-01', to: '2025-06-02', zone: 'America/New_York' },
    ]) {
      const statements: { text: string; values: unknown[] }[] = [];
      const store = createOverviewStore({
        select: async (statement) => {
          statements.push(statement);
          return [];
        },
      });
      await getOverview(store, viewer, query);
      expect(statements).toHaveLength(viewer.role === 'owner' ? 8 : 7);
      let leadsRead = 0;
      for (const { text, values } of statements) {
        const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
          values,
        );
        if (row !== undefined) leadsRead += countLeadsRead(row['QUERY PLAN'][0].Plan);
      }
      // Campaigns, publishers, landing pages and sub-ids read leads. In other time zones, these are parts of two UTC days.
      expect(leadsRead).toBeGreaterThan(0);
      expect(leadsRead).toBeLessThanOrEqual(4 * leadsPerDay);
    }
  }
});

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function countLeadsRead(plan: PlanNode): number {
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + countLeadsRead(each), 0);
  if (plan['Relation Name'] !== 'lead') return below;
  return below + (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
}
