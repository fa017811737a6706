import { randomUUID } from 'node:crypto';
import type { MemberRole } from '@leads/core/credential';
import type { TestMember } from '@leads/test-kit/fixture';
import type { Answer } from '@leads/test-kit/http-client';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { guardedRoutesOf } from '@leads/test-kit/openapi-document';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { forbidden, notFound } from './leads-api.ts';
import { signInAs, Visitor } from './visitor.ts';
import { signedInRoutesOf, websiteRoutesOf } from './website-routes.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();

/** Someone with credentials, who is signed in as well. */
interface Person {
  readonly member: TestMember;
  readonly visitor: Visitor;
}
const people: Readonly<Record<MemberRole, Person>> = {
  owner: await signInAs(service, workspace, 'owner'),
  manager: await signInAs(service, workspace, 'manager'),
  publisher: await signInAs(service, workspace, 'publisher'),
};
const anotherUser = await signInAs(service, workspace, 'publisher');
const forIntake = await workspace.addMember('owner', { scope: 'intake' });
const inNoWorkspace = await signInAs(service, workspace, 'owner');

/** What a row tries: made anew for each try, so that none is in the way of the next. */
interface Try {
  /** Below that of {@link doors}. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What must not be in the answer. */
  readonly hidden?: string;
}

/** What is answered to each role. */
type Roles = Readonly<Record<MemberRole, number>>;

interface Row extends Roles {
  /** @param of whose leads, or whatever else a user has of its own, are meant. */
  readonly request: (of: Person) => Promise<Try> | Try;
  /** Where it is about what users have of their own: what is answered about another's. */
  readonly onAnothers?: Roles;
  /** What is answered to who is signed in and in no workspace; if absent, that it is in none. */
  readonly inNoWorkspace?: number;
}
type Matrix = Readonly<Record<string, Row>>;

async function leadOf({ member }: Person): Promise<string> {
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
const campaign = () => workspace.addCampaign(randomUUID());
async function campaignWithLink(): Promise<string> {
  const id = await campaign();
  await people.owner.visitor.send('POST', `/console/campaigns/${id}/integration-link`);
  return id;
}
async function made({ visitor }: Person, path: '/api-keys' | '/access-tokens'): Promise<string> {
  const answer = await visitor.send('POST', `/console${path}`, { name: 'One' });
  return answer.json<{ record: { id: string } }>().record.id;
}
async function sessionOf({ member }: Person): Promise<string> {
  const browser = new Visitor(service);
  await browser.signIn(member.email);
  return (await browser.get('/me')).json<{ sessionId: string }>().sessionId;
}

const leads = '/order/leads';
const everyone = { owner: 200, manager: 200, publisher: 200 } as const;
const managers = { owner: 200, manager: 200, publisher: 403 } as const;
const owners = { owner: 200, manager: 403, publisher: 403 } as const;
const nobody = { owner: 404, manager: 404, publisher: 404 } as const;

/** What integrators have, and the website's pages as well. */
const common: Matrix = {
  'POST /order/leads': {
    ...everyone,
    request: () => ({
      path: leads,
      body: { campaignCode: 'DEMO', name: personalData.name, phone: personalData.phone },
    }),
  },
  'GET /order/leads': {
    ...everyone,
    onAnothers: everyone,
    request: async (of) => ({ path: `${leads}?limit=1000`, hidden: await leadOf(of) }),
  },
  'GET /order/leads as CSV': {
    ...everyone,
    onAnothers: everyone,
    request: async (of) => ({ path: leads, headers: { Accept: 'text/csv' }, hidden: await leadOf(of) }),
  },
  'GET /order/leads as NDJSON': {
    ...everyone,
    onAnothers: everyone,
    request: async (of) => ({
      path: leads,
      headers: { Accept: 'application/x-ndjson' },
      hidden: await leadOf(of),
    }),
  },
  'GET /order/leads/{id}': {
    ...everyone,
    onAnothers: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}` }),
  },
  'PATCH /order/leads/{id}': {
    ...everyone,
    onAnothers: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}`, body: { city: 'Paris' } }),
  },
  'PATCH /order/leads/{id} status': {
    ...managers,
    onAnothers: { ...managers, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}`, body: { status: 'Approved' } }),
  },
  'PATCH /order/leads/{id} out of Paid': {
    ...owners,
    onAnothers: { ...owners, publisher: 404 },
    request: async (of) => {
      const id = await leadOf(of);
      await fixture.sql(`UPDATE lead SET status = 'Paid' WHERE id = $1`, [id]);
      return { path: `${leads}/${id}`, body: { status: 'Approved', reason: 'Bounced' } };
    },
  },
  'GET /order/leads/{id}/history': {
    ...everyone,
    onAnothers: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}/history` }),
  },
  'POST /order/leads/status': {
    ...managers,
    onAnothers: managers,
    request: async (of) => ({
      path: `${leads}/status`,
      body: { ids: [await leadOf(of)], status: 'Approved' },
    }),
  },
  'POST /order/leads/import': {
    ...everyone,
    request: () => ({
      path: `${leads}/import`,
      headers: { 'Content-Type': 'text/csv' },
      body: `campaignCode,name,phone\r\nDEMO,${personalData.name},${personalData.phone}\r\n`,
    }),
  },
  'GET /campaigns': { ...everyone, request: () => ({ path: '/campaigns' }) },
  'POST /campaigns': {
    ...managers,
    request: () => ({ path: '/campaigns', body: { code: randomUUID(), name: 'A campaign' } }),
  },
  'PATCH /campaigns/{id}': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaign()}`, body: { name: 'Another name' } }),
  },
  'GET /landing-pages': { ...everyone, request: () => ({ path: '/landing-pages' }) },
  'POST /landing-pages': {
    ...managers,
    request: () => ({ path: '/landing-pages', body: { name: randomUUID() } }),
  },
  'PATCH /landing-pages/{id}': {
    ...managers,
    request: async () => ({ path: `/landing-pages/${await landingPage()}`, body: { campaignCode: 'DEMO' } }),
  },
};

const forIntegrators: Matrix = {
  ...common,
  // Without NATS, after everyone was let in.
  'GET /events': { owner: 503, manager: 503, publisher: 503, request: () => ({ path: '/events' }) },
};

const forPages: Matrix = {
  ...common,
  'GET /order/leads.csv': {
    ...everyone,
    onAnothers: everyone,
    request: async (of) => ({ path: `${leads}.csv`, hidden: await leadOf(of) }),
  },
  'GET /order/leads.ndjson': {
    ...everyone,
    onAnothers: everyone,
    request: async (of) => ({ path: `${leads}.ndjson`, hidden: await leadOf(of) }),
  },
  'GET /overview': { ...everyone, request: () => ({ path: '/overview?from=2026-01-01&to=2026-01-31' }) },
  'GET /api-keys': {
    ...everyone,
    request: () => ({ path: '/api-keys' }),
  },
  'POST /api-keys': { ...everyone, request: () => ({ path: '/api-keys', body: { name: 'One' } }) },
  'POST /api-keys/{id}/rotate': {
    ...everyone,
    onAnothers: nobody,
    request: async (of) => ({ path: `/api-keys/${await made(of, '/api-keys')}/rotate` }),
  },
  'DELETE /api-keys/{id}': {
    ...everyone,
    onAnothers: nobody,
    request: async (of) => ({ path: `/api-keys/${await made(of, '/api-keys')}` }),
  },
  'GET /access-tokens': { ...everyone, request: () => ({ path: '/access-tokens' }) },
  'POST /access-tokens': { ...everyone, request: () => ({ path: '/access-tokens', body: { name: 'One' } }) },
  'DELETE /access-tokens/{id}': {
    ...everyone,
    onAnothers: nobody,
    request: async (of) => ({ path: `/access-tokens/${await made(of, '/access-tokens')}` }),
  },
  // This CRM does not know where the intake is, which it says after everyone was let in.
  'POST /try-intake': {
    owner: 409,
    manager: 409,
    publisher: 409,
    request: () => ({
      path: '/try-intake',
      body: { apiKey: 'lk_0', lead: { name: personalData.name, phone: personalData.phone } },
    }),
  },
  'GET /campaigns/{id}/integration-link': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaignWithLink()}/integration-link` }),
  },
  'POST /campaigns/{id}/integration-link': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaign()}/integration-link` }),
  },
  'DELETE /campaigns/{id}/integration-link': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaignWithLink()}/integration-link` }),
  },
  'GET /members': { ...managers, request: () => ({ path: '/members' }) },
  'GET /invitations': { ...owners, request: () => ({ path: '/invitations' }) },
  'PATCH /workspace': { ...owners, request: () => ({ path: '/workspace', body: { name: randomUUID() } }) },
  'POST /workspaces': {
    ...everyone,
    inNoWorkspace: 200,
    request: () => ({ path: '/workspaces', body: { name: 'Another' } }),
  },
  'GET /me': { ...everyone, inNoWorkspace: 200, request: () => ({ path: '/me' }) },
  'GET /sessions': { ...everyone, inNoWorkspace: 200, request: () => ({ path: '/sessions' }) },
  'DELETE /sessions/{id}': {
    ...everyone,
    onAnothers: nobody,
    inNoWorkspace: 200,
    request: async (of) => ({ path: `/sessions/${await sessionOf(of)}` }),
  },
};

interface Door {
  readonly prefix: string;
  readonly matrix: Matrix;
  /** Of all that is registered behind it, what the table is about. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  readonly send: (person: Person, method: string, request: Try) => Promise<Answer>;
}

/** The two ways to come by what there is, each with its guard. */
const doors: Readonly<Record<string, Door>> = {
  'with an API key and an access token': {
    prefix: '/api/v1',
    matrix: forIntegrators,
    routes: guardedRoutesOf(service.document),
    send: ({ member }, method, { path, body, headers }) =>
      service.send({
        method,
        path: `/api/v1${path}`,
        headers: { ...member.headers, ...headers },
        ...(body !== undefined && { body }),
      }),
  },
  'signed in': {
    prefix: '/api/console',
    matrix: forPages,
    routes: await signedInRoutesOf(service),
    send: ({ visitor }, method, { path, body, headers }) =>
      visitor.send(method, `/console${path}`, body, headers),
  },
};

const written = [
  'lead',
  'lead_change',
  'campaign',
  'landing_page',
  'api_key',
  'access_token',
  'workspace',
  'session',
];
/** All that a route may change, in one text; but not when a credential was used, which is noted in its own time. */
async function stored(tables: readonly string[] = written) {
  const row = `(to_jsonb(each) - '{last_used_at,last_used_from}'::text[])::text`;
  const digests = tables.map(
    (table) => `(SELECT md5(string_agg(${row}, ',' ORDER BY ${row})) FROM ${table} AS each)`,
  );
  const [all] = await fixture.sql<{ digests: string }>(
    `SELECT concat_ws(' ', ${digests.join(', ')}) AS digests`,
  );
  return all?.digests;
}

test.each(Object.values(doors))(
  'every route below $prefix that is guarded stands in its table, and nothing else does',
  ({ prefix, matrix, routes }) => {
    // A row more for the same route says in words what it is about.
    const rows = Object.keys(matrix).map((row) => row.split(' ', 2).join(` ${prefix}`));
    const registered = routes.map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(rows)].toSorted()).toEqual(registered.toSorted());
  },
);

test.each(Object.values(doors))(
  'every route below $prefix declares the permission that its table grants to roles',
  ({ prefix, matrix }) => {
    for (const [name, row] of Object.entries(matrix)) {
      const [method, path = ''] = name.split(' ');
      const route = service.routes.find((each) => each.method === method && each.path === `${prefix}${path}`);
      // A row with more words is about one use of a route that all members may call.
      const isWholeRoute = name.split(' ').length === 2;
      const required =
        row.inNoWorkspace !== undefined
          ? 'signedIn'
          : row.publisher !== 403 || !isWholeRoute
            ? 'member'
            : row.manager !== 403
              ? 'manager'
              : 'owner';
      expect([name, route?.permission]).toEqual([name, required]);
    }
  },
);

for (const [way, { matrix, send, prefix }] of Object.entries(doors)) {
  describe.each(Object.entries(matrix))(`${way}, %s`, (name, row) => {
    const [method = ''] = name.split(' ');

    async function expectAnswer(person: Person, of: Person, status: number) {
      const request = await row.request(of);
      const before = await stored();
      const answer = await send(person, method, request);
      expect([name, answer.status, answer.text]).toEqual([name, status, answer.text]);
      expect((await stored()) !== before).toBe(status === 200 && method !== 'GET');
      const refusals: Readonly<Record<number, object>> = {
        403: { success: false, error: forbidden.error },
        404: notFound,
      };
      expect(status === 200 ? {} : answer.json()).toMatchObject(refusals[status] ?? {});
      return { request, answer };
    }

    test.each(['owner', 'manager', 'publisher'] as const)('%s, of its own', async (role) => {
      await expectAnswer(people[role], people[role], row[role]);
    });

    if (prefix === '/api/v1') {
      test('a key for the intake is refused, whoever holds it', async () => {
        const { answer } = await expectAnswer({ ...people.owner, member: forIntake }, people.owner, 403);
        expect(answer.json()).toEqual(forbidden);
      });
    } else {
      test('who is in no workspace', async () => {
        await fixture.sql('DELETE FROM member WHERE user_id = $1', [inNoWorkspace.member.userId]);
        const of = row.inNoWorkspace === undefined ? people.owner : inNoWorkspace;
        const { answer } = await expectAnswer(inNoWorkspace, of, row.inNoWorkspace ?? 403);
        const message = 'You are not a member of any workspace';
        expect(answer.text).toContain(row.inNoWorkspace === undefined ? message : '');
      });
    }

    const { onAnothers } = row;
    if (onAnothers === undefined) return;
    test("another user's", async () => {
      for (const role of ['owner', 'manager'] as const) {
        const { request, answer } = await expectAnswer(people[role], anotherUser, onAnothers[role]);
        expect(answer.text).toContain(request.hidden ?? '');
      }
      const { request, answer } = await expectAnswer(people.publisher, anotherUser, onAnothers.publisher);
      expect(answer.text).not.toContain(request.hidden ?? 'nothing that is looked for');
    });
  });
}

async function membership(): Promise<string> {
  const { userId } = await workspace.addMember('publisher');
  const [row] = await fixture.sql<{ id: string }>(
    'SELECT id FROM member WHERE user_id = $1 AND workspace_id = $2',
    [userId, workspace.id],
  );
  return row?.id ?? '';
}
const invitation = () => ({ email: `${randomUUID()}@example.com`, role: 'publisher' });
async function invitationId(): Promise<string> {
  const answer = await people.owner.visitor.account('/organization/invite-member', invitation());
  return answer.json<{ id: string }>().id;
}

/** What the library of accounts does to a workspace's members. */
const toMembers: Readonly<Record<string, Roles & { readonly body: () => Promise<object> | object }>> = {
  '/organization/invite-member': { ...owners, body: invitation },
  '/organization/cancel-invitation': {
    ...owners,
    body: async () => ({ invitationId: await invitationId() }),
  },
  '/organization/update-member-role': {
    ...owners,
    body: async () => ({ memberId: await membership(), role: 'manager' }),
  },
  '/organization/remove-member': {
    ...owners,
    body: async () => ({ memberIdOrEmail: await membership() }),
  },
};

/** What it does for whoever asks, whatever the role. */
const toOneself = [
  '/change-password',
  '/organization/accept-invitation',
  '/organization/leave',
  '/organization/reject-invitation',
  '/organization/set-active',
  '/request-password-reset',
  '/reset-password',
  '/send-verification-email',
  '/sign-in/email',
  '/sign-out',
  '/sign-up/email',
  '/two-factor/disable',
  '/two-factor/enable',
  '/two-factor/generate-backup-codes',
  '/two-factor/verify-backup-code',
  '/two-factor/verify-totp',
  '/update-user',
  '/verify-email',
];

test('every route of accounts is about members, or about who asks', async () => {
  const prefix = '/api/auth';
  const accountRoutes = (await websiteRoutesOf(service)).filter(({ path }) => path.startsWith(prefix));
  const paths = accountRoutes.map(({ path }) => path);
  const known = [...Object.keys(toMembers), ...toOneself].map((path) => `${prefix}${path}`);
  expect(paths.toSorted()).toEqual(known.toSorted());
  const ofOwners = accountRoutes.filter(({ permission }) => permission === 'owner').map(({ path }) => path);
  expect(ofOwners.toSorted()).toEqual(
    Object.keys(toMembers)
      .map((path) => `${prefix}${path}`)
      .toSorted(),
  );
});

describe.each(Object.entries(toMembers))('%s', (path, row) => {
  test.each(['owner', 'manager', 'publisher'] as const)('%s', async (role) => {
    const body = await row.body();
    const before = await stored(['member', 'invitation']);
    const answer = await people[role].visitor.account(path, body);
    expect([answer.status, answer.text]).toEqual([row[role], answer.text]);
    expect((await stored(['member', 'invitation'])) !== before).toBe(row[role] === 200);
  });
});
