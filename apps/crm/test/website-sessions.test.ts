import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { onOneDay } from '@leads/test-kit/one-day';
import { expectRejectedSoon } from '@leads/test-kit/rejected-soon';
import { afterAll, describe, expect, test } from 'vitest';
import { listAssets, listScripts } from '../src/routes/website/files/built-website.ts';
import { startCrm } from './crm.ts';
import { signInAs, Visitor } from './visitor.ts';

const crm = await startCrm({ INTAKE_URL: 'http://127.0.0.1:1' });
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;

const notFound = { success: false, error: 'error', message: 'Not found' };

interface KeyRecord {
  id: string;
  state: string;
  replacesId?: string;
  lastUsedAt?: string;
  lastUsedFrom?: string;
}
const createKey = async (visitor: Visitor, body: object = { name: 'A key' }) => {
  const answer = await visitor.send('POST', '/console/api-keys', body);
  expect(answer.status).toBe(200);
  return answer.json<{ apiKey: string; record: KeyRecord }>();
};
const createToken = async (visitor: Visitor, body: object = { name: 'A token' }) => {
  const answer = await visitor.send('POST', '/console/access-tokens', body);
  expect(answer.status).toBe(200);
  return answer.json<{ accessToken: string; record: KeyRecord }>();
};
const list = (apiKey: string, accessToken: string) =>
  service.send({
    path: '/api/v1/order/leads',
    headers: { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` },
  });
const statusOf = async (apiKey: string, accessToken: string) => (await list(apiKey, accessToken)).status;

describe('credentials', () => {
  test('spec 5.3: are created in the website, shown once, valid, and rejected within 10 s after revocation', async () => {
    const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'publisher');
    const { apiKey, record: key } = await createKey(visitor);
    const { accessToken, record: token } = await createToken(visitor);
    expect((await list(apiKey, accessToken)).status).toBe(200);

    const shown = `${(await visitor.get('/api-keys')).text}${(await visitor.get('/access-tokens')).text}`;
    expect(shown).toContain(apiKey.slice(0, 11));
    expect(shown).not.toContain(apiKey);
    expect(shown).not.toContain(accessToken);

    await visitor.send('DELETE', `/console/access-tokens/${token.id}`);
    await expectRejectedSoon(() => statusOf(apiKey, accessToken));
    const { accessToken: next } = await createToken(visitor);
    expect((await list(apiKey, next)).status).toBe(200);
    await visitor.send('DELETE', `/console/api-keys/${key.id}`);
    await expectRejectedSoon(() => statusOf(apiKey, next));
    const [revoked] = (await visitor.get('/api-keys')).json<KeyRecord[]>();
    expect(revoked).toMatchObject({ id: key.id, state: 'revoked' });
  });

  test('show the time and the IP address of their last use', async () => {
    const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
    const { apiKey, record } = await createKey(visitor);
    const { accessToken } = await createToken(visitor);
    expect(record.lastUsedAt).toBeUndefined();
    const before = Date.now();
    await list(apiKey, accessToken);
    const used = async (path: string) => (await visitor.get(path)).json<KeyRecord[]>()[0];
    await expect.poll(async () => (await used('/api-keys'))?.lastUsedAt).toBeDefined();
    for (const path of ['/api-keys', '/access-tokens']) {
      const { lastUsedAt = '', lastUsedFrom } = (await used(path)) ?? {};
      expect(lastUsedFrom).toBe('127.0.0.1');
      expect(Date.parse(lastUsedAt)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(lastUsedAt)).toBeLessThanOrEqual(Date.now());
    }
  });

  test('have a log of their requests, also of rejected ones, and counts by day, for their member and for owners', () =>
    onOneDay(async (day) => {
      const workspace = await fixture.createWorkspace();
      const { visitor } = await signInAs(service, workspace, 'publisher');
      const { apiKey, record } = await createKey(visitor, { name: 'A key', scope: ['leads:read'] });
      const { accessToken } = await createToken(visitor);
      const headers = { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` };
      const leads = '/api/v1/order/leads';
      // The status and the code of each request. Its URL has personal data, and the log does not.
      const sent = [
        [
          { path: `${leads}?${new URLSearchParams({ phone: personalData.phone }).toString()}`, headers },
          200,
          undefined,
        ],
        [{ path: leads, headers: { ...headers, Authorization: 'Bearer a.b.c' } }, 401, 'unauthenticated'],
        [{ path: leads, method: 'POST', headers, body: { name: personalData.name } }, 403, 'forbidden'],
        [{ path: `${leads}?limit=0`, headers }, 400, 'invalid_input'],
        [{ path: `${leads}/${randomUUID()}`, headers }, 404, 'not_found'],
      ] as const;
      for (const [request, status] of sent) expect((await service.send(request)).status).toBe(status);
      // A request with an unknown key is in no log.
      await list(`${apiKey.slice(0, -1)}${apiKey.endsWith('0') ? '1' : '0'}`, accessToken);

      const path = `/api-keys/${record.id}`;
      const read = async (query = '', by = visitor) => {
        const answer = await by.get(`${path}/requests${query}`);
        return Object.assign(answer.json<{ requests: Record<string, unknown>[]; unlistedToday: number }>(), {
          link: String(answer.headers['link'] ?? ''),
          text: answer.text,
        });
      };
      await expect.poll(async () => (await read()).requests).toHaveLength(sent.length);
      const { requests, unlistedToday, text } = await read();
      expect(requests.toReversed().map(({ status, code }) => [status, code])).toEqual(
        sent.map(([, status, code]) => [status, code]),
      );
      expect(requests[0]).toEqual({
        id: expect.any(String),
        at: expect.stringMatching(/Z$/),
        service: 'crm',
        method: 'GET',
        route: '/api/v1/order/leads/:id',
        status: 404,
        code: 'not_found',
        durationMs: expect.any(Number),
      });
      expect(unlistedToday).toBe(0);
      for (const secret of [
        personalData.phone,
        personalData.name,
        '127.0.0.1',
        apiKey.slice(0, 11),
        accessToken,
      ])
        expect(text).not.toContain(secret);
      expect((await read('?status=success')).requests).toHaveLength(1);
      expect((await read('?service=intake')).requests).toEqual([]);
      const first = await read('?limit=3&status=client_error');
      const [, next = ''] = /<[^>]*(\?[^>]*)>; rel="next"/.exec(first.link) ?? [];
      expect([...first.requests, ...(await read(next)).requests]).toEqual(requests.slice(0, 4));

      const { days } = (await visitor.get(`${path}/usage`)).json<{ days: object[] }>();
      const counts = { success: 1, clientErrors: 4, serverErrors: 0, unlisted: 0 };
      expect(days).toEqual([{ day, ...counts }]);

      const [owner, colleague, stranger] = await Promise.all([
        signInAs(service, workspace, 'owner'),
        signInAs(service, workspace, 'publisher'),
        signInAs(service, await fixture.createWorkspace(), 'owner'),
      ]);
      expect((await read('', owner.visitor)).requests).toEqual(requests);
      for (const { visitor: other } of [colleague, stranger]) {
        for (const part of ['requests', 'usage']) {
          expect((await other.get(`${path}/${part}`)).status).toBe(404);
        }
      }
      for (const query of ['?status=ok', '?cursor=x', '?limit=0', '?key=x']) {
        expect((await visitor.get(`${path}/requests${query}`)).status).toBe(400);
      }
    }));

  test('are hidden from other members of the workspace, who cannot revoke them', async () => {
    const workspace = await fixture.createWorkspace();
    const { visitor } = await signInAs(service, workspace, 'publisher');
    const key = await createKey(visitor);
    const token = await createToken(visitor);
    const owner = await signInAs(service, workspace, 'owner');
    for (const [path, { id }] of [
      ['/api-keys', key.record],
      ['/access-tokens', token.record],
    ] as const) {
      expect((await owner.visitor.get(path)).text).not.toContain(id);
      expect((await owner.visitor.send('DELETE', `/console${path}/${id}`)).status).toBe(404);
    }
    expect((await owner.visitor.send('POST', `/console/api-keys/${key.record.id}/rotate`)).status).toBe(404);
    expect((await list(key.apiKey, token.accessToken)).status).toBe(200);
  });

  test('keep their properties in a rotated API key, while the old key stays valid', async () => {
    const workspace = await fixture.createWorkspace();
    const { visitor } = await signInAs(service, workspace, 'manager');
    const old = await createKey(visitor, {
      name: 'Pages',
      scope: 'intake',
      allowedOrigins: ['https://offer.example', 'HTTPS://Offer.Example:443'],
      defaultCampaignCode: 'DEMO',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const answer = await visitor.send('POST', `/console/api-keys/${old.record.id}/rotate`);
    const { apiKey, record } = answer.json<{ apiKey: string; record: KeyRecord & { expiresAt: string } }>();
    expect(apiKey).not.toBe(old.apiKey);
    expect(record).toMatchObject({
      name: 'Pages',
      scope: 'intake',
      state: 'active',
      allowedOrigins: ['https://offer.example'],
      defaultCampaignId: workspace.demoCampaignId,
      replacesId: old.record.id,
    });
    expect(Date.parse(record.expiresAt) - Date.now()).toBeGreaterThan(3_500_000);
    const keys = (await visitor.get('/api-keys')).json<KeyRecord[]>();
    const [newest, next] = keys.map(({ id, state }) => [id, state]);
    expect([newest, next]).toEqual([
      [record.id, 'active'],
      [old.record.id, 'active'],
    ]);
    await visitor.send('DELETE', `/console/api-keys/${old.record.id}`);
    const again = await visitor.send('POST', `/console/api-keys/${old.record.id}/rotate`);
    expect([again.status, again.json()]).toEqual([
      409,
      { success: false, error: 'validation', message: 'Only an active API key can be rotated' },
    ]);
  });

  test('can have single scopes and networks, which a rotated key keeps', async () => {
    const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
    const given = {
      name: 'Reports',
      scope: ['events', 'leads:read'],
      allowedNetworks: ['203.0.113.9/24', '203.0.113.0/24', '::ffff:198.51.100.7', '2001:DB8::/32'],
    };
    const limits = {
      scope: ['leads:read', 'events'],
      allowedNetworks: ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32'],
    };
    const old = await createKey(visitor, given);
    expect(old.record).toMatchObject(limits);
    const answer = await visitor.send('POST', `/console/api-keys/${old.record.id}/rotate`);
    expect(answer.json<{ record: KeyRecord }>().record).toMatchObject({
      ...limits,
      replacesId: old.record.id,
    });
    const listed = (await visitor.get('/api-keys')).json<KeyRecord[]>();
    expect(listed.slice(0, 2)).toEqual([expect.objectContaining(limits), expect.objectContaining(limits)]);
  });

  test('have an API key that expires at the end of the year 9999 if it is requested to expire later, or replaces such a key', async () => {
    const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
    const { record } = await createKey(visitor, { name: 'x', expiresAt: '9999-12-31T23:59:59-01:00' });
    const last = { state: 'active', expiresAt: '9999-12-31T23:59:59.999Z' };
    expect(record).toMatchObject(last);

    await fixture.sql(`UPDATE api_key SET created_at = created_at - interval '1 day' WHERE id = $1`, [
      record.id,
    ]);
    const answer = await visitor.send('POST', `/console/api-keys/${record.id}/rotate`);
    const { record: rotated } = answer.json<{ record: KeyRecord }>();
    expect(rotated).toMatchObject(last);
    expect((await visitor.get('/api-keys')).json<KeyRecord[]>()[0]).toMatchObject({
      ...last,
      id: rotated.id,
    });
    expect((await visitor.send('DELETE', `/console/api-keys/${rotated.id}`)).status).toBe(200);
  });

  test('are listed, rotated and revoked if an API key has an expiry after the year 9999, which the release before stores', async () => {
    const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
    const { record } = await createKey(visitor, { name: 'x', expiresAt: '9999-12-31T23:59:59Z' });
    await fixture.sql(`UPDATE api_key SET expires_at = '10000-01-01T00:00:00Z' WHERE id = $1`, [record.id]);
    const last = { id: record.id, state: 'active', expiresAt: '9999-12-31T23:59:59.999Z' };
    const own = await visitor.get('/api-keys');
    const ofMembers = await visitor.get('/members/credentials');
    expect([own.status, ofMembers.status]).toEqual([200, 200]);
    expect(own.json<KeyRecord[]>()).toContainEqual(expect.objectContaining(last));
    expect(ofMembers.json<{ apiKeys: KeyRecord[] }>().apiKeys).toContainEqual(expect.objectContaining(last));

    const rotated = await visitor.send('POST', `/console/api-keys/${record.id}/rotate`);
    expect(rotated.json()).toMatchObject({ record: { ...last, id: expect.any(String) } });
    const revoked = await visitor.send('DELETE', `/console/api-keys/${record.id}`);
    expect(revoked.status).toBe(200);
    expect(revoked.json()).toMatchObject({ record: { ...last, state: 'revoked' } });
  });

  test.for([
    [{ name: '' }, '#/name'],
    [{ name: ' \t' }, '#/name'],
    [{}, '#/name'],
    [{ name: 'x', allowedOrigins: ['https://a.example'] }, '#/allowedOrigins'],
    [{ name: 'x', scope: 'intake', allowedOrigins: ['https://a.example/path'] }, '#/allowedOrigins/0'],
    [{ name: 'x', scope: 'intake', allowedOrigins: ['https://*.a.example'] }, '#/allowedOrigins/0'],
    [{ name: 'x', scope: 'intake', allowedOrigins: ['javascript:alert(1)'] }, '#/allowedOrigins/0'],
    [{ name: 'x', scope: 'intake', allowedOrigins: ['https://:0'] }, '#/allowedOrigins'],
    [{ name: 'x', scope: 'admin' }, '#/scope'],
    [{ name: 'x', scope: [] }, '#/scope'],
    [{ name: 'x', scope: ['leads:read', 'full'] }, '#/scope/1'],
    [{ name: 'x', scope: ['events', 'events'] }, '#/scope'],
    [{ name: 'x', scope: ['leads:write'], allowedOrigins: ['https://a.example'] }, '#/allowedOrigins'],
    [{ name: 'x', allowedNetworks: '203.0.113.7' }, '#/allowedNetworks'],
    [{ name: 'x', allowedNetworks: ['203.0.113.7', '203.0.113.0/33'] }, '#/allowedNetworks/1'],
    [{ name: 'x', allowedNetworks: ['example.com'] }, '#/allowedNetworks/0'],
    [
      { name: 'x', allowedNetworks: Array.from({ length: 21 }, (_, i) => `10.0.0.${i}`) },
      '#/allowedNetworks',
    ],
    [
      { name: 'x', scope: 'intake', allowedOrigins: ['https://a.example'], allowedNetworks: ['::1'] },
      '#/allowedNetworks',
    ],
    [{ name: 'x', expiresAt: 'tomorrow' }, '#/expiresAt'],
    [{ name: 'x', expiresAt: '2016-12-31T23:59:60Z' }, '#/expiresAt'],
    [{ name: 'x', expiresAt: '2100-01-31T09:30:00+01' }, '#/expiresAt'],
    [{ name: 'x', expiresAt: '0000-01-01T00:00:00Z' }, '#/expiresAt'],
    [{ name: 'x', userId: randomUUID() }, '#/userId'],
  ] as const)(
    'are not created from an API key request %j, which is rejected with 400 at %s',
    async ([body, pointer]) => {
      const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
      const before = (await visitor.get('/api-keys')).json();
      const answer = await visitor.send('POST', '/console/api-keys', body, {
        Accept: 'application/problem+json',
      });
      expect(answer.status).toBe(400);
      const { errors } = answer.json<{ errors: { pointer: string }[] }>();
      expect(new Set(errors.map((error) => error.pointer))).toEqual(new Set([pointer]));
      expect((await visitor.get('/api-keys')).json()).toEqual(before);
    },
  );

  test('are not created with an expiry in the past, an inactive campaign or an invalid token lifetime', async () => {
    const workspace = await fixture.createWorkspace();
    await workspace.addCampaign('PAUSED', 'paused');
    const { visitor } = await signInAs(service, workspace, 'owner');
    for (const [field, value] of [
      ['expiresAt', new Date(Date.now() - 1000).toISOString()],
      ['defaultCampaignCode', 'PAUSED'],
      ['defaultCampaignCode', 'NONE'],
    ] as const) {
      const answer = await visitor.send(
        'POST',
        '/console/api-keys',
        { name: 'x', [field]: value },
        { Accept: 'application/problem+json' },
      );
      expect(answer.status).toBe(400);
      expect(answer.json<{ errors: object[] }>().errors).toEqual([
        expect.objectContaining({ pointer: `#/${field}` }),
      ]);
    }
    const token = (lifetimeSeconds: number) =>
      visitor.send('POST', '/console/access-tokens', { name: 'x', lifetimeSeconds });
    for (const seconds of [3_599, 31_536_001, 3600.5]) expect((await token(seconds)).status).toBe(400);
    for (const seconds of [3_600, 31_536_000]) expect((await token(seconds)).status).toBe(200);
  });
});

describe('two workspaces', () => {
  test('cannot read or change resources of each other', async () => {
    const [mine, theirs] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
    const me = await signInAs(service, mine, 'owner');
    const they = await signInAs(service, theirs, 'owner');
    const key = await createKey(they.visitor);
    const token = await createToken(they.visitor);
    const lead = (
      await they.visitor.send('POST', '/console/order/leads', {
        campaignCode: 'DEMO',
        name: 'Secret Lead',
        phone: '+1 202 555 0143',
      })
    ).json<{ lead: { id: string } }>().lead;
    await theirs.mapLandingPage('secret-page', null);
    const [page] = (await they.visitor.get('/landing-pages')).json<{ id: string }[]>();
    const invitation = (
      await they.visitor.account('/organization/invite-member', {
        email: `${randomUUID()}@example.com`,
        role: 'manager',
        organizationId: theirs.id,
      })
    ).json<{ id: string }>();
    const [session] = (await they.visitor.get('/sessions')).json<{ id: string }[]>();
    const members = (await they.visitor.get('/members')).json<{ id: string }[]>();
    const seenBefore = await Promise.all(
      ['/api-keys', '/access-tokens', '/campaigns', '/landing-pages', '/members', '/order/leads'].map(
        async (path) => (await they.visitor.get(path)).text,
      ),
    );

    const attempts: [string, string, object?][] = [
      ['DELETE', `/console/api-keys/${key.record.id}`],
      ['POST', `/console/api-keys/${key.record.id}/rotate`],
      ['DELETE', `/console/access-tokens/${token.record.id}`],
      ['GET', `/console/order/leads/${lead.id}`],
      ['GET', `/console/order/leads/${lead.id}/history`],
      ['PATCH', `/console/order/leads/${lead.id}`, { status: 'Approved' }],
      ['PATCH', `/console/campaigns/${theirs.demoCampaignId}`, { name: 'Mine now' }],
      ['GET', `/console/campaigns/${theirs.demoCampaignId}/integration-link`],
      ['POST', `/console/campaigns/${theirs.demoCampaignId}/integration-link`],
      ['DELETE', `/console/campaigns/${theirs.demoCampaignId}/integration-link`],
      ['PATCH', `/console/landing-pages/${page?.id}`, { campaignCode: 'DEMO' }],
      ['DELETE', `/console/sessions/${session?.id}`],
    ];
    for (const [method, path, body] of attempts) {
      const answer = await me.visitor.send(method, path, body);
      expect([method, path, answer.status, answer.json()]).toEqual([method, path, 404, notFound]);
    }
    const organizationId = theirs.id;
    const problem = await me.visitor.send(
      'POST',
      '/auth/organization/accept-invitation',
      { invitationId: invitation.id },
      { Accept: 'application/problem+json' },
    );
    expect(problem.json()).toMatchObject({ type: 'urn:leads:error:invitation_required' });
    for (const [path, body] of [
      ['/organization/set-active', { organizationId }],
      ['/organization/cancel-invitation', { invitationId: invitation.id }],
      ['/organization/accept-invitation', { invitationId: invitation.id }],
      ['/organization/update-member-role', { memberId: members[0]?.id, role: 'publisher', organizationId }],
      ['/organization/remove-member', { memberIdOrEmail: members[0]?.id, organizationId }],
      ['/organization/leave', { organizationId }],
    ] as const) {
      const answer = await me.visitor.account(path, body);
      expect([path, answer.status]).toEqual([
        path,
        expect.toSatisfy((status) => status >= 400 && status < 500),
      ]);
    }
    const seenAfter = await Promise.all(
      ['/api-keys', '/access-tokens', '/campaigns', '/landing-pages', '/members', '/order/leads'].map(
        async (path) => (await they.visitor.get(path)).text,
      ),
    );
    expect(seenAfter).toEqual(seenBefore);
    for (const path of [
      '/api-keys',
      '/access-tokens',
      '/campaigns',
      '/landing-pages',
      '/members',
      '/invitations',
      '/order/leads',
      '/me',
    ]) {
      const { text } = await me.visitor.get(path);
      for (const secret of [
        theirs.id,
        key.record.id,
        token.record.id,
        lead.id,
        'secret-page',
        invitation.id,
      ]) {
        expect([path, text]).toEqual([path, expect.not.stringContaining(secret)]);
      }
    }
    // The rejected requests did not change the active workspace of the other user.
    expect((await they.visitor.get('/me')).json()).toMatchObject({ workspace: { id: theirs.id } });
  });
});

describe('member management', () => {
  test.for(['manager', 'publisher'] as const)('rejects changes of members by a %s', async (role) => {
    const workspace = await fixture.createWorkspace();
    const owner = await signInAs(service, workspace, 'owner');
    const { visitor, member } = await signInAs(service, workspace, role);
    const other = await workspace.addMember('publisher');
    const members = (await owner.visitor.get('/members')).json<{ id: string; userId: string }[]>();
    const idOf = (userId: string) => members.find((each) => each.userId === userId)?.id;
    for (const [path, body] of [
      ['/organization/invite-member', { email: `${randomUUID()}@example.com`, role: 'publisher' }],
      ['/organization/update-member-role', { memberId: idOf(member.userId), role: 'owner' }],
      ['/organization/update-member-role', { memberId: idOf(other.userId), role: 'manager' }],
      ['/organization/remove-member', { memberIdOrEmail: idOf(owner.member.userId) }],
      ['/organization/remove-member', { memberIdOrEmail: idOf(other.userId) }],
    ] as const) {
      const { status } = await visitor.account(path, { ...body, organizationId: workspace.id });
      expect([path, status]).toEqual([path, expect.toSatisfy((each) => each >= 400 && each < 500)]);
    }
    expect((await owner.visitor.get('/members')).json()).toEqual(members);
  });

  test('keeps at least one owner in a workspace', async () => {
    const visitor = new Visitor(service);
    await visitor.signUp();
    const { workspace } = (await visitor.get('/me')).json<{ workspace: { id: string } }>();
    const [own] = (await visitor.get('/members')).json<{ id: string }[]>();
    for (const [path, body] of [
      ['/organization/update-member-role', { memberId: own?.id, role: 'publisher' }],
      ['/organization/remove-member', { memberIdOrEmail: own?.id }],
      ['/organization/leave', {}],
    ] as const) {
      const { status } = await visitor.account(path, { ...body, organizationId: workspace.id });
      expect([path, status]).toEqual([path, expect.toSatisfy((each) => each >= 400 && each < 500)]);
    }
    expect((await visitor.get('/members')).json()).toMatchObject([{ id: own?.id, role: 'owner' }]);
  });

  test('removes a member from the workspace at once, and the credentials are rejected within 10 s', async () => {
    const workspace = await fixture.createWorkspace();
    const owner = await signInAs(service, workspace, 'owner');
    const { visitor, member } = await signInAs(service, workspace, 'publisher');
    const { apiKey } = await createKey(visitor);
    const { accessToken } = await createToken(visitor);
    expect((await list(apiKey, accessToken)).status).toBe(200);
    const members = (await owner.visitor.get('/members')).json<{ id: string; userId: string }[]>();
    const memberIdOrEmail = members.find(({ userId }) => userId === member.userId)?.id;
    const removal = { memberIdOrEmail, organizationId: workspace.id };
    expect((await owner.visitor.account('/organization/remove-member', removal)).status).toBe(200);
    const me = (await visitor.get('/me')).json<{ workspaces: { id: string }[] }>();
    expect(me.workspaces.map(({ id }) => id)).not.toContain(workspace.id);
    await expectRejectedSoon(() => statusOf(apiKey, accessToken));
  });
});

test('an integration page shows the data for a publisher until its link is renewed or deleted', async () => {
  const workspace = await fixture.createWorkspace();
  await workspace.mapLandingPage('spring-offer', workspace.demoCampaignId);
  const { visitor } = await signInAs(service, workspace, 'manager');
  const path = `/console/campaigns/${workspace.demoCampaignId}/integration-link`;
  const anyone = new Visitor(service);
  const pageOf = (link: string) => anyone.get(`/integration/${link.split('/').at(-1)}`);
  expect((await visitor.send('GET', path)).json()).toEqual({});
  const { link } = (await visitor.send('POST', path)).json<{ link: string }>();
  expect(link).toMatch(/\/integration\/[\w-]{43}$/);
  expect((await visitor.send('GET', path)).json()).toEqual({ link });
  expect((await pageOf(link)).json()).toEqual({
    workspace: workspace.slug,
    campaignCode: 'DEMO',
    isDefault: false,
    campaign: 'DEMO',
    status: 'active',
    landingPages: ['spring-offer'],
    addresses: { crm: expect.any(String), intake: 'http://127.0.0.1:1/api' },
  });
  // The list of campaigns does not contain the token of the link.
  expect((await visitor.get('/campaigns')).text).not.toContain(link.split('/').at(-1));
  const renewed = (await visitor.send('POST', path)).json<{ link: string }>().link;
  expect((await pageOf(link)).status).toBe(404);
  expect((await pageOf(renewed)).status).toBe(200);
  await visitor.send('DELETE', path);
  expect((await pageOf(renewed)).status).toBe(404);
  for (const token of ['x', 'x'.repeat(43), '%00', '%F0%9F%98%80']) {
    expect((await anyone.get(`/integration/${token}`)).status).toBe(404);
  }
});

test('the service logs the class, page and script positions of a browser error without the text of the request', async () => {
  const visitor = new Visitor(service);
  const report = (body: object) => visitor.send('POST', '/console/client-errors', body);
  const logged = () =>
    service.logs.entries().flatMap(({ clientError }) => (clientError === undefined ? [] : [clientError]));
  const file = listScripts().find((name) => name.startsWith('index-')) ?? '';
  const script = `/assets/${file}`;
  const stack = [
    `TypeError: ${personalData.description}`,
    `    at ${personalData.name} (https://leads.example${script}:1:23456)`,
    `    at Array.map (<anonymous>)`,
    `${personalData.s1}@https://leads.example${script}:12:3`,
    `    at y (https://evil.example/assets/${personalData.s1}.js:1:1)`,
    `    at z (https://leads.example${script}:12345678901:1)`,
  ].join('\n');
  expect((await report({ message: personalData.name, stack, page: '/leads' })).status).toBe(200);
  expect(logged().at(-1)).toEqual({
    name: 'TypeError',
    page: '/leads',
    at: [`${file}:1:23456`, `${file}:12:3`],
  });

  const frames = Array.from({ length: 99 }, () => `@https://leads.example${script}:1:2`).join('\n');
  const page = `/integration/${personalData.s1}`;
  expect((await report({ message: '', name: 'ApiError', stack: frames, page })).status).toBe(200);
  const many = Array.from({ length: 10 }, () => `${file}:1:2`);
  expect(logged().at(-1)).toEqual({ name: 'ApiError', page: '/integration/:token', at: many });

  const unknown = { message: 'x', name: personalData.name, page: `/leads/${personalData.name}` };
  expect((await report(unknown)).status).toBe(200);
  expect(logged().at(-1)).toEqual({ name: 'unknown', page: 'unknown', at: [] });

  expect((await report({ message: 'x'.repeat(1001) })).status).toBe(400);
  // A rate limit protects the log.
  const answers = await Promise.all(Array.from({ length: 80 }, () => report({ message: 'x' })));
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(20);
  expect(Number(answers.at(-1)?.headers['retry-after'])).toBeGreaterThan(0);
});

test('reports of browser errors without a session do not use up the quota of signed-in users', async () => {
  const strangers = new Visitor(service);
  strangers.setCookie('leads.session_token', 'forged.token');
  const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'publisher');
  const report = (by: Visitor) => by.send('POST', '/console/client-errors', { name: 'Error' });
  const answers = await Promise.all(Array.from({ length: 80 }, () => report(strangers)));
  expect(answers.at(-1)?.status).toBe(429);
  expect((await report(visitor)).status).toBe(200);
});

test('try-intake sends the lead to INTAKE_INTERNAL_URL if it is set, because INTAKE_URL may be unreachable', async () => {
  const intake = createServer((request, response) => {
    request.resume();
    response.writeHead(201).end(`${request.method} ${request.url} ${String(request.headers['api_key'])}`);
  });
  await new Promise<void>((resolve) => intake.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = intake.address() as AddressInfo;
    await using other = await startCrm({
      INTAKE_URL: 'http://intake.invalid',
      INTAKE_INTERNAL_URL: `http://127.0.0.1:${port}`,
    });
    const { visitor } = await signInAs(other.service, await other.fixture.createWorkspace(), 'owner');
    const lead = { name: 'Test', phone: '1' };
    const answer = await visitor.send('POST', '/console/try-intake', { apiKey: 'lk_0', lead });
    expect(answer.json()).toEqual({ status: 201, body: 'POST /api/v1/leads lk_0' });
  } finally {
    intake.closeAllConnections();
    intake.close();
  }
});

test('try-intake answers 503 while the intake is unavailable, and 400 to a malformed API key or origin', async () => {
  const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
  const tryIt = (apiKey: string, more: object = {}) =>
    visitor.send('POST', '/console/try-intake', { apiKey, lead: { name: 'Test', phone: '1' }, ...more });
  const unavailable = await tryIt('lk_0');
  expect([unavailable.status, unavailable.json()]).toEqual([
    503,
    { success: false, error: 'error', message: 'The intake service does not answer' },
  ]);
  expect((await tryIt('lk_0\r\nX: y')).status).toBe(400);
  expect((await tryIt('lk_0', { origin: 'https://offer.example:8443' })).status).toBe(503);
  for (const origin of [
    'https://\u2026',
    'https://\u0001',
    'https://a.example\u0000',
    'https://\ud800',
    'null',
    '',
  ]) {
    expect([origin, (await tryIt('lk_0', { origin })).status]).toEqual([origin, 400]);
  }
});

test('every page of the website forbids framing and scripts of other origins', async () => {
  const pages = service.routes
    .filter(
      ({ method, path }) =>
        method === 'GET' && !/^\/(api|assets|asyncapi|docs|health|metrics|openapi)/.test(path),
    )
    .map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x'));
  expect(pages.length).toBeGreaterThan(10);
  const assets = listAssets().map((name) => `/assets/${name}`);
  expect(assets.length).toBeGreaterThan(10);
  for (const path of [...pages, ...assets]) {
    const { status, headers } = await service.send({ path });
    expect([path, status]).toEqual([path, 200]);
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("frame-ancestors 'none'");
    // The script in the document is known by its hash. No other inline script runs.
    expect(policy).toMatch(/(^|; )script-src 'self' 'sha256-[\w+/]{43}='(;|$)/);
    expect(policy).toContain("default-src 'none'");
    const isHashed = path.startsWith('/assets/');
    expect(headers['cache-control']).toBe(isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  }
});

test('the website serves precompressed files in an encoding that the browser accepts', async () => {
  const [name] = listScripts();
  const path = `/assets/${name}`;
  const plain = await service.send({ path });
  expect(plain.headers['content-encoding']).toBeUndefined();
  for (const [accepted, encoding, decompress] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
  ] as const) {
    const { headers, bytes } = await service.send({ path, headers: { 'Accept-Encoding': accepted } });
    expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' });
    expect(bytes.length).toBeLessThan(plain.bytes.length);
    expect(decompress(bytes).equals(plain.bytes)).toBe(true);
  }
});

test('the website gets long JSON compressed if its browser accepts that, but no answers with secrets, and API clients do not', async () => {
  const workspace = await fixture.createWorkspace();
  const { visitor, member } = await signInAs(service, workspace, 'owner');
  await fixture.leads.insert(Array.from({ length: 50 }, () => workspace.lead(member)));
  const accepting = { 'Accept-Encoding': 'gzip, br' };
  const get = (path: string, headers: Record<string, string> = {}) =>
    visitor.send('GET', path, undefined, headers);
  const leadList = '/console/order/leads';
  const [plain, compressed, refused] = [
    await get(leadList),
    await get(leadList, accepting),
    await get(leadList, { 'Accept-Encoding': 'gzip;q=0' }),
  ];
  expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' });
  expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 3);
  expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true);
  expect(refused.bytes.equals(plain.bytes)).toBe(true);
  // Other GET routes, too.
  for (let i = 0; i < 10; i++) await workspace.addCampaign(`CAMPAIGN-${i}`);
  for (const path of [
    '/console/campaigns',
    '/console/campaign-figures',
    '/console/overview?from=2026-01-01&to=2026-01-31',
  ]) {
    const [long, short] = [await get(path), await get(path, accepting)];
    expect([path, short.headers['content-encoding']]).toEqual([path, 'gzip']);
    expect(gunzipSync(short.bytes).length).toBe(long.bytes.length);
  }
  // Receivers have tokens in their URLs, and an invitation is a secret link.
  await fixture.sql(
    `INSERT INTO delivery_endpoint (id, workspace_id, url, event_types, statuses, campaign_ids, secret)
     SELECT gen_random_uuid(), $1, 'https://crm.example.com/hook?token=' || n, '{lead.created}', '{}', '{}', 'x'
     FROM generate_series(1, 9) AS n`,
    [workspace.id],
  );
  const secrets = await get('/console/webhooks', accepting);
  expect(secrets.bytes.length).toBeGreaterThan(1_024);
  const ids = plain.json<{ id: string }[]>().map(({ id }) => id);
  const changed = await visitor.send(
    'POST',
    '/console/order/leads/status',
    { ids, status: 'Approved' },
    accepting,
  );
  expect(changed.bytes.length).toBeGreaterThan(1_024);
  // Short answers, exports, secrets, answers to other methods, and the list of API clients.
  const api = { path: '/api/v1/order/leads', headers: { ...member.headers, ...accepting } };
  for (const answer of [
    plain,
    refused,
    await get(`${leadList}?limit=1`, accepting),
    await get(`${leadList}.csv`, accepting),
    await get('/console/api-keys', accepting),
    secrets,
    changed,
    await service.send(api),
  ]) {
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined]);
  }
});

test.each(['missing.js', '..%2findex.html', `${listScripts()[0]}.map`, `${listScripts()[0]}.br`])(
  'the website has no file /assets/%s',
  async (name) => {
    expect((await service.send({ path: `/assets/${name}` })).status).toBe(404);
  },
);

test('no route of the website answers an invalid request with a 5xx status', async () => {
  const { visitor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
  const paths = new Set(
    service.routes.map(({ path }) => path).filter((path) => path.startsWith('/api/console/')),
  );
  for (const path of paths) {
    for (const id of [randomUUID(), 'x', '%00', '%2e%2e', "'", 'x'.repeat(90)]) {
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
        for (const body of method === 'POST' || method === 'PATCH'
          ? [undefined, [], { x: '\u0000' }, 'null']
          : [undefined]) {
          const filled = path.slice('/api'.length).replaceAll(/\{\w+\}/g, id);
          if (method === 'POST' && /workspaces|integration-link/.test(path)) continue;
          const { status } = await visitor.send(method, filled, body);
          expect([method, filled, status]).toEqual([method, filled, expect.toSatisfy((each) => each < 500)]);
        }
      }
      if (!path.includes('{')) break;
    }
  }
});
