import { randomUUID } from 'node:crypto';
import type { StoredLead } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import {
  fieldOf,
  isInternal,
  neededBy,
  optionalSortFields,
  type Sort,
  type SortField,
  sorts,
} from '@leads/core/lead/sort-fields';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { invalidInput, leadsApi, leadsPath, type Page } from './leads-api.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const api = leadsApi(service);
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const publisher = await workspace.addMember('publisher');
const other = await fixture.createWorkspace();
const invalidCursor = { success: false, error: 'validation', message: 'Invalid cursor' };

const campaigns = new Map([
  ['DEMO', workspace.demoCampaignId],
  ['Spring & "Sale"', await workspace.addCampaign('Spring & "Sale"')],
  ["O'Code", await workspace.addCampaign("O'Code", 'paused')],
]);
await other.addCampaign("O'Code");

/** Phone numbers as sent, each with the E.164 number that is stored. */
const phones: readonly (readonly [string, string | undefined])[] = [
  ['+44 20 7946 0958', '+442079460958'],
  ['020 7946 0958', undefined],
  ['(020) 7946 0958', '+442079460958'],
  ['+1 202 555 0143', '+12025550143'],
  ['202-555-0143', undefined],
  ['+49 2025550143', '+492025550143'],
  ['112', undefined],
  ['ask', undefined],
];
const names = ['Ada Lovelace', "Pat O'Brien", 'Zoë Müller', 'José Ñandú', 'ADA BYRON', '山田 太郎', 'x'];
const pick = <Item>(items: readonly Item[], i: number) => items[i % items.length] as Item;

const start = Date.UTC(2026, 0, 1);
/** Leads so varied that each filter matches some of them only, and that some times are equal. */
const leads: StoredLead[] = Array.from({ length: 336 }, (_, i) => {
  const [phone, phoneE164] = pick(phones, i);
  const createdAt = new Date(start + Math.floor(i / 5) * 3_600_000);
  return workspace.lead(i % 4 === 0 ? publisher : owner, {
    name: pick(names, Math.floor(i / 3)),
    phone,
    phoneE164,
    email: i % 5 === 0 ? `ada.b${i}@nest.io` : undefined,
    status: pick(['OnHold', 'Trashed', 'Paid', 'Approved'] as const, Math.floor(i / 7)),
    source: i % 3 === 0 ? 'intake' : 'crm',
    campaignId: pick([...campaigns.values()], Math.floor(i / 11)),
    s1: pick(['click-1', 'CLICK-1', 'click-1 ', "a'b%_\\", undefined], i),
    lpName: pick(
      ['spring', 'Spring', '👍'.repeat(255), `${'👍'.repeat(255)}x`, undefined],
      Math.floor(i / 2),
    ),
    country: pick(['GB', 'gb', 'G', 'x'.repeat(300), undefined], Math.floor(i / 5)),
    createdAt,
    updatedAt: new Date(createdAt.getTime() + ((i * 7) % 13) * 7_200_000),
  });
});
await fixture.leads.insert(leads);
/** Some leads have a time to call back, and some of these times are equal. */
const callbacks = new Map(
  leads.filter((_, i) => i % 3 !== 1).map(({ id }, i) => [id, new Date(start + ((i * 11) % 17) * 3_600_000)]),
);
await fixture.sql(
  `UPDATE lead SET callback_at = at FROM unnest($1::uuid[], $2::timestamptz[]) AS planned (id, at)
   WHERE lead.id = planned.id`,
  [[...callbacks.keys()], [...callbacks.values()].map((at) => at.toISOString())],
);
/** Some leads have an assignee. */
const assigned = await workspace.addMember('manager');
const assignees = new Map(
  leads.filter((_, i) => i % 5 !== 2).map(({ id }, i) => [id, i % 2 === 0 ? owner.userId : assigned.userId]),
);
await fixture.sql(
  `UPDATE lead SET assignee_id = assignee FROM unnest($1::uuid[], $2::uuid[]) AS assigned (id, assignee)
   WHERE lead.id = assigned.id`,
  [[...assignees.keys()], [...assignees.values()]],
);
/** The leads of a payment, which the payment has paid or left out. */
const paid = new Map(
  leads.filter((_, i) => i % 6 < 2).map(({ id }, i) => [id, i % 2 === 0 ? 'planned' : 'skipped']),
);
const paymentId = randomUUID();
await fixture.sql(
  `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, retry_at,
     failures, last_error)
   VALUES ($1, $2, 1, $3, $4, now(), now(), 'EUR', now(), '2100-01-01', 1, 'unavailable')`,
  [paymentId, workspace.id, publisher.userId, owner.userId],
);
await fixture.sql(
  `INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount, state)
   SELECT $1, id, $2, 1, state FROM unnest($3::uuid[], $4::text[]) AS paid (id, state)`,
  [paymentId, workspace.id, [...paid.keys()], [...paid.values()]],
);
await fixture.leads.insert(
  Array.from({ length: 20 }, () =>
    other.lead(other.owner, { s1: 'click-1', lpName: 'spring', name: 'Ada Lovelace' }),
  ),
);

const day = (days: number) => new Date(start + days * 86_400_000).toISOString();

interface Case {
  readonly query: Record<string, string>;
  readonly matches: (lead: StoredLead) => boolean;
}

const london = new Set(['+44 20 7946 0958', '020 7946 0958', '(020) 7946 0958']);
const washington = new Set(['+1 202 555 0143', '202-555-0143']);
/** The filters, each with values that match some leads, and with its meaning as a predicate. */
const filters: Readonly<Record<string, readonly Case[]>> = {
  status: [
    'OnHold',
    'Trashed',
    'Paid',
    'Approved',
    'OnHold,Approved',
    'Approved,OnHold,Paid',
    'Trashed,Paid,Trashed',
  ].map((status) => ({
    query: { status },
    matches: (lead) => status.split(',').includes(lead.status),
  })),
  user: [publisher.userId, owner.userId.toUpperCase()].map((user) => ({
    query: { user },
    matches: (lead) => lead.userId === user.toLowerCase(),
  })),
  source: (['crm', 'intake'] as const).map((source) => ({
    query: { source },
    matches: (lead) => lead.source === source,
  })),
  campaignCode: [...campaigns].map(([campaignCode, id]) => ({
    query: { campaignCode },
    matches: (lead) => lead.campaignId === id,
  })),
  payment: [paymentId, paymentId.toUpperCase()].map((payment) => ({
    query: { payment },
    matches: (lead) => paid.has(lead.id),
  })),
  createdFrom: [day(1), day(1.5), '2026-01-02', '2026-01-02T01:00:00+01:00'].map((createdFrom) => ({
    query: { createdFrom },
    matches: (lead) => lead.createdAt.getTime() >= Date.parse(createdFrom),
  })),
  createdTo: [day(1), '2026-01-02', '2026-01-01T23:00:00-01:00'].map((createdTo) => ({
    query: { createdTo },
    matches: (lead) => lead.createdAt.getTime() < Date.parse(createdTo),
  })),
  updatedSince: [day(1), day(2.25)].map((updatedSince) => ({
    query: { updatedSince },
    matches: (lead) => lead.updatedAt.getTime() >= Date.parse(updatedSince),
  })),
  s1: ['click-1', 'CLICK-1', 'click-1 ', "a'b%_\\"].map((s1) => ({
    query: { s1 },
    matches: (lead) => lead.s1 === s1,
  })),
  lpName: ['spring', 'Spring', '👍'.repeat(255)].map((lpName) => ({
    query: { lpName },
    matches: (lead) => lead.lpName === lpName,
  })),
  country: ['GB', 'gb', 'G'].map((country) => ({
    query: { country },
    matches: (lead) => lead.country === country,
  })),
  has: [{ query: { has: 'country' }, matches: ({ country }) => country !== undefined }],
  phone: [
    ...['+44 20 7946 0958', '0044 (20) 79460958', '020 7946 0958', '442079460958', '+44 (0)20 7946 0958'].map(
      (phone) => ({ query: { phone }, matches: (lead: StoredLead) => london.has(lead.phone) }),
    ),
    ...['+1 202 555 0143', '12025550143', '001-202-555-0143'].map((phone) => ({
      query: { phone },
      matches: (lead: StoredLead) => washington.has(lead.phone),
    })),
    { query: { phone: '2025550143' }, matches: ({ phone }) => /2.*0143/.test(phone) },
    { query: { phone: '+49 2025550143' }, matches: ({ phone }) => /202-|^\+49/.test(phone) },
    { query: { phone: '112' }, matches: ({ phone }) => phone === '112' },
  ],
  q: [
    { query: { q: 'ada' }, matches: ({ name, email }) => /ada/i.test(name + (email ?? '')) },
    { query: { q: 'LOVE ada' }, matches: ({ name }) => name === 'Ada Lovelace' },
    { query: { q: "o'br" }, matches: ({ name }) => name.includes("O'Br") },
    { query: { q: 'brien' }, matches: ({ name }) => name.includes("O'Br") },
    { query: { q: 'muller zoe' }, matches: ({ name }) => name.startsWith('Zoë') },
    { query: { q: 'MÜLL' }, matches: ({ name }) => name.startsWith('Zoë') },
    { query: { q: 'jose ñan' }, matches: ({ name }) => name.startsWith('José') },
    { query: { q: '山' }, matches: ({ name }) => name.startsWith('山') },
    { query: { q: 'nest.io' }, matches: ({ email }) => email !== undefined },
    { query: { q: 'ada.b35@nest' }, matches: ({ email }) => email?.startsWith('ada.b35@') === true },
    { query: { q: 'b1' }, matches: ({ email }) => /\.b1/.test(email ?? '') },
    {
      query: { q: '020 79' },
      matches: ({ phone, phoneE164 }) =>
        phoneE164 === undefined ? phone.startsWith('020 79') : phone.startsWith('(020'),
    },
    { query: { q: '+44 20' }, matches: ({ phoneE164 }) => phoneE164?.startsWith('+4420') === true },
    { query: { q: '0958' }, matches: ({ phone }) => phone.endsWith('0958') },
    { query: { q: '555-0143' }, matches: ({ phone }) => /5.*0143/.test(phone) },
    {
      query: { q: '+1 202 555 0143' },
      matches: ({ phone }) => phone.replace(/\D/g, '').endsWith('2025550143'),
    },
    { query: { q: ' click-1 ' }, matches: ({ s1 }) => s1 === 'click-1' },
    { query: { q: "a'b%_\\" }, matches: ({ s1 }) => s1 === "a'b%_\\" },
    ...[...campaigns].map(([code, id]) => ({
      query: { q: code.toLowerCase().slice(0, 4) },
      matches: ({ campaignId }: StoredLead) => campaignId === id,
    })),
    ...[leads[17], leads[200]].flatMap((lead) => [
      { query: { q: lead?.id ?? '' }, matches: ({ id }: StoredLead) => id === lead?.id },
      {
        query: { q: lead?.id.slice(0, 8).toUpperCase() ?? '' },
        matches: ({ id }: StoredLead) => id.startsWith(lead?.id.slice(0, 8) ?? ''),
      },
      { query: { q: lead?.id.slice(0, 21) ?? '' }, matches: ({ id }: StoredLead) => id === lead?.id },
    ]),
  ],
};

/** What each sort order compares, first to last. The id follows. */
const keysOf: Readonly<Record<SortField, (lead: StoredLead) => readonly (number | string | undefined)[]>> = {
  createdAt: ({ createdAt }) => [createdAt.getTime()],
  updatedAt: ({ updatedAt }) => [updatedAt.getTime()],
  status: ({ status, createdAt }) => [
    ['OnHold', 'Trashed', 'Paid', 'Approved'].indexOf(status),
    createdAt.getTime(),
  ],
  source: ({ source, createdAt }) => [source, createdAt.getTime()],
  campaign: ({ campaignId, createdAt }) => [campaignId, createdAt.getTime()],
  user: ({ userId, createdAt }) => [userId, createdAt.getTime()],
  assignee: ({ id, createdAt }) => [assignees.get(id), createdAt.getTime()],
  s1: ({ s1, createdAt }) => [s1, createdAt.getTime()],
  lpName: ({ lpName, createdAt }) => [
    lpName === undefined ? undefined : Array.from(lpName).slice(0, 255).join(''),
    createdAt.getTime(),
  ],
  country: ({ country, createdAt }) => [country?.slice(0, 64), createdAt.getTime()],
  callbackAt: ({ id }) => [callbacks.get(id)?.getTime()],
};

/** The filter that a sort order needs. */
const neededFor = (sort: Sort): Record<string, string> => {
  const has = neededBy(sort);
  return has === undefined ? {} : { has };
};

/** Returns the ids that the list must contain, in order. A sort order leaves out the leads without a value. */
function expected(cases: readonly Case[], sort: Sort, member: TestMember = owner): string[] {
  const keys = keysOf[fieldOf(sort)];
  const valuesOf = (lead: StoredLead) => [...keys(lead), lead.id];
  const compare = (a: StoredLead, b: StoredLead) => {
    const [ofA, ofB] = [valuesOf(a), valuesOf(b)];
    const at = ofA.findIndex((value, i) => value !== ofB[i]);
    // The indexes of s1 and lpName have the newest lead of a value first.
    const sign = at > 0 && /s1|lpName/.test(sort) ? -1 : 1;
    return (ofA[at] ?? '') < (ofB[at] ?? '') ? -sign : sign;
  };
  return leads
    .filter((lead) => cases.every(({ matches }) => matches(lead)))
    .filter((lead) => keys(lead)[0] !== undefined)
    .filter((lead) => member.role !== 'publisher' || lead.userId === member.userId)
    .toSorted((a, b) => (sort.startsWith('-') ? -1 : 1) * compare(a, b))
    .map(({ id }) => id);
}
const without = (query: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(query).filter(([each]) => each !== name));
const idsOf = (page: Page) => page.leads.map(({ id }) => id);
const merged = (cases: readonly Case[]) =>
  Object.assign({}, ...cases.map(({ query }) => query)) as Record<string, string>;

describe('filtering', () => {
  test.each(Object.entries(filters))(
    'by %s returns exactly the matching leads and their count',
    async (name, cases) => {
      // With updatedSince, the list is sorted by the time of the last change.
      const sort = name === 'updatedSince' ? '-updatedAt' : '-createdAt';
      for (const each of cases) {
        const ids = expected([each], sort);
        expect(ids.length, JSON.stringify(each.query)).toBeGreaterThan(0);
        expect(ids.length).toBeLessThan(leads.length);
        const page = await api.list(owner, { ...each.query, limit: '1000', count: 'exact' });
        expect([each.query, idsOf(page)]).toEqual([each.query, ids]);
        expect(page.totalCount).toBe(ids.length);
        expect([page.next, page.prev]).toEqual([undefined, undefined]);
        const own = await api.list(publisher, { ...each.query, limit: '1', count: 'exact' });
        expect(own.totalCount).toBe(expected([each], '-createdAt', publisher).length);
      }
    },
  );

  const kinds = Object.keys(filters);
  test('by any 2 filters returns the leads that match both, in the requested order', async () => {
    let i = 0;
    for (const [at, one] of kinds.entries()) {
      for (const two of kinds.slice(at + 1)) {
        const pair = [pick(filters[one] ?? [], i), pick(filters[two] ?? [], Math.floor(i / 2))];
        for (const sort of [pick(sorts, i), pick(sorts, i + 1)]) {
          const needed = neededFor(sort);
          // A list has one such filter.
          if (needed['has'] !== undefined && 'has' in merged(pair)) continue;
          const query = { ...needed, ...merged(pair), sort, limit: '1000', count: 'exact' };
          const page = await api.list(owner, query);
          expect([query, idsOf(page)]).toEqual([query, expected(pair, sort)]);
          expect(page.totalCount).toBe(page.leads.length);
        }
        i += 1;
      }
    }
  });

  /** The filters that the index of creation does not have. */
  const unindexed: Readonly<Record<string, Case>> = {
    'no assignee': { query: { assignee: 'none' }, matches: ({ id }) => !assignees.has(id) },
    has: pick(filters['has'] ?? [], 0),
    payment: pick(filters['payment'] ?? [], 0),
    updatedSince: pick(filters['updatedSince'] ?? [], 0),
  };
  test.each(Object.entries(unindexed))(
    'by the code of a campaign in q and by %s returns the leads that match both, in the list, the count and the export',
    async (_, each) => {
      const ofCampaign: Case = {
        query: { q: 'spring' },
        matches: ({ campaignId }) => campaignId === campaigns.get('Spring & "Sale"'),
      };
      const both = [ofCampaign, each];
      for (const sort of ['-createdAt', 'createdAt'] as const) {
        const ids = expected(both, sort);
        expect(ids.length).toBeGreaterThan(0);
        expect(ids.length).toBeLessThan(expected([ofCampaign], sort).length);
        const query = { ...merged(both), sort };
        const page = await api.list(owner, { ...query, limit: '1000', count: 'exact' });
        expect([page.totalCount, idsOf(page)]).toEqual([ids.length, ids]);
        const { forward } = await walk(owner, { ...query, limit: '7' });
        expect(forward.flatMap(idsOf)).toEqual(ids);
        const file = await api.send(owner, 'GET', `?${new URLSearchParams(query).toString()}`, {
          headers: { accept: 'application/x-ndjson' },
        });
        const lines = file.text.split('\n').slice(0, -1);
        expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(ids);
      }
    },
  );

  test('by all filters returns the one lead that matches', async () => {
    const lead = leads.find(
      ({ s1, lpName, country }) => s1 !== undefined && lpName === 'spring' && country?.length === 2,
    );
    if (lead === undefined) throw new Error('No lead has a value for every filter');
    const [campaignCode = ''] = [...campaigns].find(([, id]) => id === lead.campaignId) ?? [];
    const page = await api.list(owner, {
      status: lead.status,
      source: lead.source,
      campaignCode,
      createdFrom: lead.createdAt.toISOString(),
      createdTo: new Date(lead.createdAt.getTime() + 1).toISOString(),
      updatedSince: lead.updatedAt.toISOString(),
      s1: lead.s1 ?? '',
      lpName: 'spring',
      country: lead.country ?? '',
      q: lead.id,
    });
    expect(idsOf(page)).toEqual([lead.id]);
  });

  test('without a matching lead returns an empty list and a count of 0', async () => {
    for (const query of [
      { campaignCode: 'demo' },
      { campaignCode: workspace.demoCampaignId },
      { payment: randomUUID() },
      { s1: 'click' },
      { lpName: 'sprin' },
      { lpName: '%' },
      { country: 'FR' },
      { phone: '+44 20 7946 0957' },
      { phone: '11' },
      { q: 'adb' },
      { q: 'lovelace zoe' },
      { q: randomUUID() },
      { q: '???' },
      { createdFrom: '9999-12-31' },
      { createdTo: '0000-01-01' },
      { createdTo: '1969-12-31' },
      { createdFrom: day(2), createdTo: day(2) },
    ] as Record<string, string>[]) {
      const { leads: found, totalCount, next } = await api.list(owner, { ...query, count: 'exact' });
      expect([query, found, totalCount, next]).toEqual([query, [], 0, undefined]);
    }
    // The payment of another workspace has no leads of this one.
    expect(idsOf(await api.list(other.owner, { payment: paymentId }))).toEqual([]);
  });
});

/** Follows `next` from the first page to the last, then `prev` back. Calls `between` before each request. */
async function walk(
  member: TestMember,
  query: Record<string, string>,
  between = async () => undefined as unknown,
) {
  const forward: Page[] = [await api.list(member, query)];
  for (let { next } = forward[0] as Page; next !== undefined; ) {
    await between();
    const page = await api.follow(member, next);
    forward.push(page);
    next = page.next;
  }
  const backward: Page[] = [];
  for (let prev = forward.at(-1)?.prev; prev !== undefined; ) {
    await between();
    const page = await api.follow(member, prev);
    backward.unshift(page);
    prev = page.prev;
  }
  return { forward, backward };
}

describe('pages', () => {
  // A walk reads an index in both directions.
  const walked = sorts.filter((sort) => sort.endsWith('At') || sort.startsWith('-'));
  test.each(walked)('sorted by %s are linked through the whole list, forward and backward', async (sort) => {
    for (const [limit, cases] of [
      [7, [filters['status']?.[0]]],
      [50, []],
      [1, [filters['campaignCode']?.[1], filters['status']?.[3]]],
      [5, [filters['status']?.[5]]],
      [7, [filters['status']?.[6], filters['source']?.[0]]],
      [48, [filters['source']?.[1]]],
      [112, [filters['source']?.[1]]],
      [113, [filters['source']?.[1]]],
    ] as [number, Case[]][]) {
      // Publishers do not see assignees and times to call back.
      for (const member of isInternal(fieldOf(sort)) ? [owner] : [owner, publisher]) {
        const ids = expected(cases, sort, member);
        const query = { ...neededFor(sort), ...merged(cases), sort, limit: String(limit) };
        const { forward, backward } = await walk(member, query);
        expect(forward.flatMap(idsOf)).toEqual(ids);
        expect(forward).toHaveLength(Math.max(1, Math.ceil(ids.length / limit)));
        expect(forward[0]?.prev).toBeUndefined();
        expect([...backward, ...forward.slice(-1)].flatMap(idsOf)).toEqual(ids);
        for (const page of backward) expect(page.next).toBeDefined();
      }
    }
  });

  test('sorted by a field that leads can be without need a filter that selects the leads with a value', async () => {
    const find = async (member: TestMember, search: string) => {
      const headers = { ...member.headers, accept: 'application/problem+json' };
      const { status, text } = await service.send({ path: `${leadsPath}?${search}`, headers });
      return { status, isNamed: text.includes('sort') };
    };
    for (const sort of optionalSortFields.flatMap((field) => [field, `-${field}`])) {
      const wrong = sort.endsWith('country') ? 'callbackAt' : 'country';
      for (const filter of ['', `&has=${wrong}`, '&status=Paid']) {
        expect([sort, filter, await find(owner, `sort=${sort}${filter}`)]).toEqual([
          sort,
          filter,
          { status: 400, isNamed: true },
        ]);
      }
    }
    for (const search of [
      'sort=country&country=GB',
      'sort=s1&s1=click-1',
      'sort=-lpName&lpName=spring',
      'sort=assignee&assignee=me',
      'sort=callbackAt&callbackDue=true',
    ]) {
      expect((await find(owner, search)).status).toBe(200);
    }
    expect((await find(owner, 'sort=assignee&assignee=none')).status).toBe(400);
    for (const search of [
      'has=callbackAt',
      'has=assignee',
      'sort=callbackAt&has=callbackAt',
      'sort=-assignee&has=assignee',
    ]) {
      expect((await find(publisher, search)).status).toBe(403);
    }
  });

  test('may differ in their limit and have the same count', async () => {
    const ids = expected([], '-createdAt');
    const seen: string[] = [];
    let page = await api.list(owner, { limit: '3', count: 'exact' });
    for (let limit = 1; ; limit = (limit * 3) % 40) {
      seen.push(...idsOf(page));
      expect(page.totalCount).toBe(ids.length);
      if (page.next === undefined) break;
      page.next.searchParams.set('limit', String(limit));
      page = await api.follow(owner, page.next);
    }
    expect(seen).toEqual(ids);
  });

  test('have no gap or repeat if leads are inserted between the requests', async () => {
    const own = await fixture.createWorkspace();
    const initialLeads = Array.from({ length: 60 }, (_, i) =>
      own.lead(own.owner, { createdAt: new Date(start + Math.floor(i / 4)) }),
    );
    await fixture.leads.insert(initialLeads);
    const ids = initialLeads
      .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
    const { forward, backward } = await walk(own.owner, { limit: '7', sort: '-createdAt' }, () =>
      fixture.leads.insert([own.lead(own.owner)]),
    );
    expect(forward.flatMap(idsOf)).toEqual(ids);
    // On the way back, the leads inserted since then come first.
    const all = [...backward, ...forward.slice(-1)].flatMap(idsOf);
    expect(all.slice(-60)).toEqual(ids);
    const before = initialLeads.map(({ id }) => id);
    const { forward: ascending } = await walk(own.owner, { limit: '7', sort: 'createdAt' }, () =>
      fixture.leads.insert([own.lead(own.owner)]),
    );
    const seen = ascending.flatMap(idsOf);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(before));
  });

  test('are empty if their leads no longer match the filter', async () => {
    const own = await fixture.createWorkspace();
    const three = Array.from({ length: 3 }, (_, i) =>
      own.lead(own.owner, { createdAt: new Date(start + i) }),
    );
    await fixture.leads.insert(three);
    const first = await api.list(own.owner, { limit: '1', status: 'OnHold' });
    const second = await api.follow(own.owner, first.next as URL);
    await fixture.sql(`UPDATE lead SET status = 'Trashed' WHERE workspace_id = $1`, [own.id]);
    for (const link of [first.next, second.next, second.prev]) {
      expect((await api.follow(own.owner, link as URL)).leads).toEqual([]);
    }
  });

  test('reject a cursor whose value the sort order cannot have with 400', async () => {
    for (const [sort, values] of [
      ['status', ['Lost', '', undefined, 1]],
      ['source', ['web', undefined]],
      ['country', ['G\u0000B', null, undefined]],
      ['createdAt', ['GB']],
    ] as const) {
      const query = { ...neededFor(sort), sort, limit: '1' };
      const { next } = await api.list(owner, query);
      const cursor = next?.searchParams.get('cursor') ?? '';
      const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
      for (const value of values) {
        const forged = [...parts.slice(0, 4), ...(value === undefined ? [] : [value])];
        const search = new URLSearchParams({
          ...query,
          cursor: Buffer.from(JSON.stringify(forged)).toString('base64url'),
        });
        const answer = await api.send(owner, 'GET', `?${search.toString()}`);
        expect([sort, value, answer.status, answer.json()]).toEqual([sort, value, 400, invalidCursor]);
      }
    }
  });

  test('reject a cursor of another filter, sort order or set of visible leads with 400', async () => {
    const base = { status: 'OnHold', sort: '-updatedAt', limit: '2' };
    const page = await api.list(owner, base);
    const { prev } = await api.follow(owner, page.next as URL);
    for (const link of [page.next, prev] as URL[]) {
      const query = Object.fromEntries(link.searchParams);
      const refusals: [TestMember, Record<string, string>][] = [
        [owner, { ...query, status: 'Paid' }],
        [owner, { ...query, sort: 'updatedAt' }],
        [owner, { ...query, sort: '-createdAt' }],
        [owner, { ...query, q: 'ada' }],
        [owner, { ...query, phone: '112' }],
        [owner, { ...query, createdFrom: '2026-01-01' }],
        [publisher, query],
        [other.owner, query],
      ];
      refusals.push([owner, without(query, 'status')], [owner, without(query, 'sort')]);
      for (const [member, changed] of refusals) {
        const answer = await api.send(member, 'GET', `?${new URLSearchParams(changed).toString()}`);
        expect([changed, answer.status, answer.json()]).toEqual([changed, 400, invalidCursor]);
      }
      const manager = await workspace.addMember('manager');
      const shuffled = Object.fromEntries(Object.entries(query).toReversed());
      const answer = await api.send(
        manager,
        'GET',
        `?${new URLSearchParams({ ...shuffled, count: 'exact', limit: '9' }).toString()}`,
      );
      expect(answer.status).toBe(200);
    }
  });
});

describe('a query string', () => {
  const texts = [
    "'",
    '"',
    '\\',
    '%',
    '_',
    '%%',
    "''",
    "'':*",
    "a':*",
    'a & b',
    'a | !b',
    '(a)',
    '<->',
    ':*',
    '!',
    '&',
    "\\'",
    '$1',
    '--',
    "'; DROP TABLE lead; --",
    '{}',
    '{a,b}',
    'NULL',
    '*',
    '?',
    '.',
    '^',
    '$',
    '\u0001',
    '\u2028',
    '\ufeff',
    '\u202e',
    '👍'.repeat(255),
    'é'.repeat(255),
    'ﷺ'.repeat(255),
    '\u0301'.repeat(255),
    'a '.repeat(127),
    '1'.repeat(255),
    '+'.repeat(255),
    '\u{10ffff}',
    'ſß',
    'İ',
    '１２３',
    '٣',
    '½',
    'tel:',
    'tel:+',
    '+',
    '00',
    '0000000',
    '+0',
    '0'.repeat(255),
    'ffffffff',
    'FFFFFFFF-',
    `ffffffff${'-'.repeat(247)}`,
    'f'.repeat(255),
    '12345678-1234',
    '1e5',
    '-1',
    'Infinity',
    '__proto__',
    'constructor',
  ];
  const parameters = ['q', 'phone', 's1', 'lpName', 'country', 'campaignCode'];

  test.each(parameters)('with a hostile text in %s is answered with 200 or 400', async (name) => {
    for (const text of texts) {
      const answer = await api.send(owner, 'GET', `?count=exact&${name}=${encodeURIComponent(text)}`);
      const isInvalidPhone = name === 'phone' && answer.status === 400 && !/\p{Nd}/u.test(text);
      expect([name, text, answer.status]).toEqual([name, text, isInvalidPhone ? 400 : 200]);
    }
    // Invalid UTF-8 and invalid percent-encoding are accepted as texts that no lead has.
    for (const raw of ['%ED%A0%80', '%FF', '%C0%80', '%ZZ', '%', '%u0041']) {
      const { status } = await api.send(owner, 'GET', `?${name}=${raw}`);
      expect([raw, status]).toEqual([raw, name === 'phone' && !/[0-9]/.test(raw) ? 400 : 200]);
    }
    for (const raw of ['', '%00', 'a%00b', 'x'.repeat(256), encodeURIComponent('👍'.repeat(256))]) {
      const answer = await api.send(owner, 'GET', `?${name}=${raw}`);
      expect([raw, answer.status, answer.json()]).toEqual([raw, 400, invalidInput]);
    }
  });

  test.each(['createdFrom', 'createdTo', 'updatedSince'])(
    'with a time in %s is answered with 200 for an RFC 3339 date or time and 400 otherwise',
    async (name) => {
      for (const [text, status] of [
        ['2026-01-31', 200],
        ['2026-01-31T09:30:00Z', 200],
        ['2026-01-31T09:30:00.123456789Z', 200],
        ['2026-01-31T09:30:00+14:00', 200],
        ['2026-01-31T09:30:00-23:59', 200],
        ['2024-02-29', 200],
        ['0000-01-01', 200],
        ['0000-01-01T00:00:00Z', 200],
        ['0001-01-01T00:00:00+23:59', 200],
        ['9999-12-31', 200],
        ['9999-12-31T23:59:59.999Z', 200],
        ['9999-12-31T23:59:59-23:59', 200],
        ['1969-12-31T23:59:59Z', 200],
        ['2026-02-29', 400],
        ['2026-13-01', 400],
        ['2026-01-31T24:00:01Z', 400],
        ['2016-12-31T23:59:60Z', 400],
        ['2026-01-31T09:30:00', 400],
        ['2026-01-31T09:30Z', 400],
        ['2026-01', 400],
        ['2026', 400],
        ['1700000000000', 400],
        ['+010000-01-01T00:00:00Z', 400],
        ['10000-01-01', 400],
        ['now', 400],
        ['infinity', 400],
        ['today', 400],
        ['', 400],
        ['2026-01-31\0', 400],
        ['２０２６-01-31', 400],
      ] as const) {
        const answer = await api.send(owner, 'GET', `?count=exact&${name}=${encodeURIComponent(text)}`);
        const refusal = status === 400 ? invalidInput : [];
        expect([text, answer.status, status === 400 ? answer.json() : []]).toEqual([text, status, refusal]);
      }
    },
  );

  test('with a repeated, empty or invalid parameter is rejected with 400', async () => {
    for (const search of [
      'status=OnHold&status=Paid',
      'status=OnHold&status=OnHold',
      'status=',
      'status=onhold',
      'status[]=OnHold',
      'status=OnHold,',
      'status=OnHold,onhold',
      'status=OnHold%20,Paid',
      'user=x',
      `user=${owner.userId}&user=${owner.userId}`,
      'source=web',
      'source=crm&source=intake',
      'campaignCode=DEMO&campaignCode=DEMO',
      'campaignCode=',
      'createdFrom=2026-01-01&createdFrom=2026-01-02',
      'updatedSince=2026-01-01&updatedSince=2026-01-01',
      'q=a&q=b',
      'phone=1&phone=2',
      's1=a&s1=b',
      'lpName=a&lpName=b',
      'sort=name',
      'sort=phone',
      'has=status',
      'has=country&has=callbackAt',
      'sort=',
      'sort=createdAt&sort=-createdAt',
      'sort=%2BcreatedAt',
      'count=yes',
      'count=exact&count=exact',
      'count=',
      'limit=1&limit=1',
      'q',
      'userId=x',
      'workspaceId=x',
    ]) {
      const answer = await service.send({ path: `${leadsPath}?${search}`, headers: { ...owner.headers } });
      expect([search, answer.status, answer.json()]).toEqual([search, 400, invalidInput]);
    }
  });
});

describe('a saved view', () => {
  type View = Record<string, unknown> & { id: string };
  const send = (member: TestMember, method: string, path: string, body?: unknown) =>
    service.send({
      method,
      path: `/api/v1/views${path}`,
      headers: { ...member.headers, accept: 'application/problem+json, application/json;q=0.9' },
      ...(body !== undefined && { body }),
    });
  const save = async (member: TestMember, body: object) => {
    const answer = await send(member, 'POST', '', body);
    expect(answer.status).toBe(200);
    return answer.json<{ view: View }>().view;
  };
  const seenBy = async (member: TestMember) =>
    (await send(member, 'GET', '')).json<View[]>().map(({ name }) => name);

  test('keeps filters, order and columns, is shared by managers only, and is seen by those who may', async () => {
    const team = await fixture.createWorkspace();
    const manager = await team.addMember('manager');
    const partner = await team.addMember('publisher');
    const given = {
      name: 'Queue',
      filters: { status: 'OnHold,Approved', campaignCode: 'DEMO' },
      sort: 'createdAt',
      columns: ['name', 'status', 'user'],
      widths: { name: 240 },
    };
    const own = await save(team.owner, given);
    expect(own).toMatchObject({ ...given, shared: false });
    const shared = await save(manager, { name: 'All', shared: true });
    await save(partner, { name: 'Mine' });
    expect([await seenBy(team.owner), await seenBy(manager), await seenBy(partner)]).toEqual([
      ['All', 'Queue'],
      ['All'],
      ['Mine'],
    ]);
    for (const [member, method, path, body, status] of [
      [partner, 'POST', '', { name: 'x', shared: true }, 403],
      [partner, 'PATCH', `/${shared.id}`, { name: 'x' }, 404],
      [partner, 'DELETE', `/${shared.id}`, undefined, 404],
      [manager, 'PATCH', `/${own.id}`, { shared: true }, 404],
      [manager, 'DELETE', `/${own.id}`, undefined, 404],
      [other.owner, 'PATCH', `/${shared.id}`, { name: 'x' }, 404],
    ] as const) {
      expect([method, path, (await send(member, method, path, body)).status]).toEqual([method, path, status]);
    }
    // Another manager changes the shared view, and its creator shares the own one.
    const changed = await send(team.owner, 'PATCH', `/${shared.id}`, { filters: { source: 'crm' } });
    expect(changed.json<{ view: View }>().view).toMatchObject({ name: 'All', filters: { source: 'crm' } });
    await send(team.owner, 'PATCH', `/${own.id}`, { shared: true });
    expect(await seenBy(manager)).toEqual(['All', 'Queue']);
    // A shared view outlives its creator, and an own one does not.
    await save(manager, { name: 'Gone' });
    await fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
      team.id,
      manager.userId,
    ]);
    expect(await seenBy(team.owner)).toEqual(['All', 'Queue']);
    expect(await fixture.sql(`SELECT FROM saved_view WHERE workspace_id = $1`, [team.id])).toHaveLength(3);
    expect((await send(team.owner, 'DELETE', `/${shared.id}`)).status).toBe(200);
    expect(await seenBy(team.owner)).toEqual(['Queue']);
    const audited = await fixture.sql<{ action: string; details: object }>(
      `SELECT action, details FROM audit_entry WHERE workspace_id = $1 AND action LIKE 'view.%' ORDER BY at, id`,
      [team.id],
    );
    expect(audited.map(({ action }) => action)).toEqual([
      'view.created',
      'view.changed',
      'view.changed',
      'view.deleted',
    ]);
    expect(JSON.stringify(audited)).not.toContain('DEMO');
  });

  test('of a user who lost the right to its filter can be renamed, and such a filter cannot be set', async () => {
    const team = await fixture.createWorkspace();
    const partner = await team.addMember('publisher');
    const { id } = await save(partner, { name: 'Mine' });
    // A manager became a publisher after saving this filter.
    await fixture.sql(`UPDATE saved_view SET filters = '{"assignee":"none"}' WHERE id = $1`, [id]);
    const renamed = await send(partner, 'PATCH', `/${id}`, { name: 'Ours' });
    expect(renamed.json()).toMatchObject({ view: { name: 'Ours', filters: { assignee: 'none' } } });
    const hidden = { name: 'Other', filters: { assignee: 'none' } };
    for (const refused of [
      await send(partner, 'PATCH', `/${id}`, hidden),
      await send(partner, 'POST', '', hidden),
    ]) {
      expect([refused.status, refused.json()]).toMatchObject([403, { type: 'urn:leads:error:forbidden' }]);
    }
  });

  test('loses its order, columns and widths by null, so that its filters can be removed', async () => {
    const { owner: user } = await fixture.createWorkspace();
    const { id } = await save(user, {
      name: 'Queue',
      filters: { has: 'country', status: 'OnHold' },
      sort: 'country',
      columns: ['name', 'country'],
      widths: { name: 240 },
    });
    const refused = await send(user, 'PATCH', `/${id}`, { filters: {} });
    expect([refused.status, refused.json()]).toMatchObject([400, { error: 'validation' }]);
    const changes = { filters: {}, sort: null, columns: null, widths: null };
    const changed = await send(user, 'PATCH', `/${id}`, changes);
    expect(changed.status).toBe(200);
    const [view] = (await send(user, 'GET', '')).json<View[]>();
    const kept = { id, name: 'Queue', shared: false, filters: {} };
    expect(view).toEqual({ ...kept, createdAt: expect.any(String), updatedAt: expect.any(String) });
    expect(changed.json<{ view: View }>().view).toEqual(view);
    expect((await send(user, 'POST', '', { name: 'Other', sort: null })).status).toBe(400);
  });

  test('keeps the changes of two managers that change other fields at once', async () => {
    const team = await fixture.createWorkspace();
    const manager = await team.addMember('manager');
    const { id } = await save(team.owner, { name: 'Queue', shared: true });
    const release = await fixture.holdTable('saved_view');
    try {
      const changes = Promise.all([
        send(team.owner, 'PATCH', `/${id}`, { name: 'Open' }),
        send(manager, 'PATCH', `/${id}`, { filters: { source: 'crm' } }),
      ]);
      const writesOrLocks = ['%UPDATE saved_view%', '%FROM workspace%FOR NO KEY UPDATE%'];
      await expect.poll(() => fixture.countBlocked(...writesOrLocks)).toBe(2);
      await release();
      expect((await changes).map(({ status }) => status)).toEqual([200, 200]);
    } finally {
      await release();
    }
    const [view] = (await send(manager, 'GET', '')).json<View[]>();
    expect(view).toMatchObject({ name: 'Open', filters: { source: 'crm' } });
  });

  test('is rejected with 400 and the name of the field if the list would reject it', async () => {
    for (const [body, pointer] of [
      [{ name: '' }, '#/name'],
      [{ name: 'x', filters: { assigned: 'x' } }, '#/filters/assigned'],
      [{ name: 'x', filters: { limit: '1' } }, '#/filters/limit'],
      [{ name: 'x', filters: { sort: 'createdAt' } }, '#/filters/sort'],
      [{ name: 'x', filters: { status: 'Lost' } }, '#/filters/status'],
      [{ name: 'x', filters: { status: ['Paid'] } }, '#/filters/status'],
      [{ name: 'x', filters: { phone: 'ask' } }, '#/filters/phone'],
      [{ name: 'x', filters: { createdFrom: '2016-12-31T23:59:60Z' } }, '#/filters/createdFrom'],
      [{ name: 'x', sort: 'name' }, '#/sort'],
      [{ name: 'x', sort: 'country' }, '#/sort'],
      [{ name: 'x', filters: { has: 'name' } }, '#/filters/has'],
      [{ name: 'x', columns: ['secret'] }, '#/columns/0'],
      [{ name: 'x', columns: [] }, '#/columns'],
      [{ name: 'x', widths: { secret: 100 } }, '#/widths/secret'],
      [{ name: 'x', widths: { name: 1 } }, '#/widths/name'],
      [{ name: 'x', id: randomUUID() }, '#/id'],
    ] as const) {
      const answer = await send(owner, 'POST', '', body);
      const { errors } = answer.json<{ errors?: { pointer: string }[] }>();
      const pointers = [...new Set(errors?.map((error) => error.pointer))];
      expect([body, answer.status, pointers]).toEqual([body, 400, [pointer]]);
    }
    expect(await seenBy(owner)).toEqual([]);
  });

  test('is one of 100 of a user, and of 100 of a workspace, also if requests arrive at once', async () => {
    const team = await fixture.createWorkspace();
    for (const [shared, userId] of [
      [false, team.owner.userId],
      [true, null],
    ] as const) {
      await fixture.sql(
        `INSERT INTO saved_view (id, workspace_id, user_id, name, filters)
         SELECT gen_random_uuid(), $1, $2, 'Many', '{}' FROM generate_series(1, 99)`,
        [team.id, userId],
      );
      const answers = await Promise.all(
        [1, 2, 3].map(() => send(team.owner, 'POST', '', { name: 'Last', shared })),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    }
  });
});
