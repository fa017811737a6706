import { randomUUID } from 'node:crypto';
import { canary } from '@leads/local-stack/testing/canaries';
import type { TestMember } from '@leads/local-stack/testing/fixture';
import { guardedRoutesOf } from '@leads/local-stack/testing/openapi-document';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { forbidden, notFound } from './leads-api.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const members = {
  owner: workspace.owner,
  manager: await workspace.addMember('manager'),
  publisher: await workspace.addMember('publisher'),
  'an owner whose key is for the intake': await workspace.addMember('owner', { scope: 'intake' }),
} as const;
type Column = keyof typeof members;
const anotherUser = await workspace.addMember('publisher');

/** What a row tries: made anew for each try, so that none is in the way of the next. */
interface Try {
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  /** What must not be in the answer. */
  readonly hidden?: string;
}

interface Row {
  /** @param of the member whose leads, where it is about leads, are meant. */
  readonly request: (of: TestMember) => Promise<Try> | Try;
  readonly owner: number;
  readonly manager: number;
  readonly publisher: number;
  /** Where it is about a lead: what a publisher is answered about another user's; all others, as about any. */
  readonly publisherOnAnothers?: number;
}

async function leadOf(member: TestMember): Promise<string> {
  const lead = workspace.lead(member);
  await fixture.leads.insert([lead]);
  return lead.id;
}
async function landingPage(): Promise<string> {
  const name = randomUUID();
  await workspace.mapLandingPage(name, null);
  const [row] = await fixture.sql<{ id: string }>('SELECT id FROM landing_page WHERE name = $1', [name]);
  return row?.id ?? '';
}
const leads = '/api/v1/order/leads';
const everyone = { owner: 200, manager: 200, publisher: 200 } as const;
const managers = { owner: 200, manager: 200, publisher: 403 } as const;

const matrix: Readonly<Record<string, Row>> = {
  'POST /api/v1/order/leads': {
    ...everyone,
    request: () => ({
      path: leads,
      body: { campaignCode: 'DEMO', name: canary.name, phone: canary.phone },
    }),
  },
  'GET /api/v1/order/leads': {
    ...everyone,
    publisherOnAnothers: 200,
    request: async (of) => ({ path: `${leads}?limit=1000`, hidden: await leadOf(of) }),
  },
  'GET /api/v1/order/leads/{id}': {
    ...everyone,
    publisherOnAnothers: 404,
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}` }),
  },
  'PATCH /api/v1/order/leads/{id}': {
    ...everyone,
    publisherOnAnothers: 404,
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}`, body: { city: 'Paris' } }),
  },
  'PATCH /api/v1/order/leads/{id} status': {
    ...managers,
    publisherOnAnothers: 403,
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}`, body: { status: 'Approved' } }),
  },
  'PATCH /api/v1/order/leads/{id} out of Paid': {
    owner: 200,
    manager: 403,
    publisher: 403,
    publisherOnAnothers: 403,
    request: async (of) => {
      const id = await leadOf(of);
      await fixture.sql(`UPDATE lead SET status = 'Paid' WHERE id = $1`, [id]);
      return { path: `${leads}/${id}`, body: { status: 'Approved', reason: 'Bounced' } };
    },
  },
  'GET /api/v1/order/leads/{id}/history': {
    ...everyone,
    publisherOnAnothers: 404,
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}/history` }),
  },
  'POST /api/v1/order/leads/status': {
    ...managers,
    publisherOnAnothers: 403,
    request: async (of) => ({
      path: `${leads}/status`,
      body: { ids: [await leadOf(of)], status: 'Approved' },
    }),
  },
  'POST /api/v1/order/leads/import': {
    ...everyone,
    request: () => ({
      path: `${leads}/import`,
      type: 'text/csv',
      body: `campaignCode,name,phone\r\nDEMO,${canary.name},${canary.phone}\r\n`,
    }),
  },
  'GET /api/v1/campaigns': { ...everyone, request: () => ({ path: '/api/v1/campaigns' }) },
  'POST /api/v1/campaigns': {
    ...managers,
    request: () => ({ path: '/api/v1/campaigns', body: { code: randomUUID(), name: 'A campaign' } }),
  },
  'PATCH /api/v1/campaigns/{id}': {
    ...managers,
    request: async () => ({
      path: `/api/v1/campaigns/${await workspace.addCampaign(randomUUID())}`,
      body: { name: 'Another name' },
    }),
  },
  // Without NATS, after everyone was let in.
  'GET /api/v1/events': {
    owner: 503,
    manager: 503,
    publisher: 503,
    request: () => ({ path: '/api/v1/events' }),
  },
  'GET /api/v1/landing-pages': { ...everyone, request: () => ({ path: '/api/v1/landing-pages' }) },
  'POST /api/v1/landing-pages': {
    ...managers,
    request: () => ({ path: '/api/v1/landing-pages', body: { name: randomUUID() } }),
  },
  'PATCH /api/v1/landing-pages/{id}': {
    ...managers,
    request: async () => ({
      path: `/api/v1/landing-pages/${await landingPage()}`,
      body: { campaignCode: 'DEMO' },
    }),
  },
};

/** The route of a row: a row more for the same one may say in words what it is about. */
const routeOf = (row: string) => row.split(' ', 2).join(' ');

/** All that a route may change, in one text. */
async function stored() {
  const tables = ['lead', 'lead_change', 'campaign', 'landing_page'];
  const digests = tables.map(
    (table) => `(SELECT md5(string_agg(each::text, ',' ORDER BY each::text)) FROM ${table} AS each)`,
  );
  const [row] = await fixture.sql<{ digests: string }>(
    `SELECT concat_ws(' ', ${digests.join(', ')}) AS digests`,
  );
  return row?.digests;
}

async function expectAnswer(row: string, member: TestMember, of: TestMember, status: number) {
  const request = (await matrix[row]?.request(of)) as Try;
  const before = await stored();
  const { path, body, type = body === undefined ? undefined : 'application/json' } = request;
  const answer = await service.send({
    method: row.split(' ', 1)[0] ?? '',
    path,
    headers: { ...member.headers, ...(type !== undefined && { 'Content-Type': type }) },
    body,
  });
  expect([row, answer.status, answer.text]).toEqual([row, status, answer.text]);
  const [method] = row.split(' ');
  expect((await stored()) !== before).toBe(status === 200 && method !== 'GET');
  const refusals: Readonly<Record<number, object>> = {
    403: { success: false, error: forbidden.error },
    404: notFound,
  };
  expect(status === 200 ? {} : answer.json()).toMatchObject(refusals[status] ?? {});
  return { request, answer };
}

test('every route that is guarded stands in the table, and nothing else does', () => {
  const guarded = guardedRoutesOf(service.document).map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(Object.keys(matrix).map(routeOf))].toSorted()).toEqual(guarded.toSorted());
});

describe.each(Object.keys(matrix))('%s', (name) => {
  const row = matrix[name] as Row;

  test.each(['owner', 'manager', 'publisher'] as const)('%s, of its own', async (role) => {
    await expectAnswer(name, members[role], members[role], row[role]);
  });

  test('a key for the intake is refused, whoever holds it', async () => {
    const column: Column = 'an owner whose key is for the intake';
    const { answer } = await expectAnswer(name, members[column], members[column], 403);
    expect(answer.json()).toEqual(forbidden);
  });

  const { publisherOnAnothers } = row;
  if (publisherOnAnothers === undefined) return;
  test("another user's lead", async () => {
    for (const role of ['owner', 'manager'] as const) {
      const { request, answer } = await expectAnswer(name, members[role], anotherUser, row[role]);
      expect(answer.text).toContain(request.hidden ?? '');
    }
    const { request, answer } = await expectAnswer(name, members.publisher, anotherUser, publisherOnAnothers);
    expect(answer.text).not.toContain(request.hidden ?? 'nothing that is looked for');
  });
});
