import { randomUUID } from 'node:crypto';
import { onOneDay } from '@leads/test-kit/one-day';
import type {
  Attention,
  CampaignFigures,
  CampaignPublishers,
  Overview,
  PublishersByCampaign,
} from '@leads/core/overview';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Crm, startCrm } from './crm.ts';
import { signInAs } from './visitor.ts';

let crm: Crm;
let cookie: string;
beforeAll(async () => {
  crm = await startCrm();
  cookie = await signUp();
});
afterAll(() => crm?.[Symbol.asyncDispose]());

// Uses fetch, because the client of the service supports only the documented API.
const send = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${crm.service.port}${path}`, init);
const getOverview = (query: string, headers: Record<string, string>) =>
  send(`/api/console/overview?${query}`, { headers });

/** Signs up a user with a new workspace, as the website does. Returns the cookie. */
async function signUp(): Promise<string> {
  const answer = await send('/api/auth/sign-up/email', {
    method: 'POST',
    headers: { Origin: `http://127.0.0.1:${crm.service.port}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      name: 'Ada',
      email: `${randomUUID()}@example.com`,
      password: 'correct horse battery',
    }),
  });
  expect(answer.status).toBe(200);
  return answer.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ');
}

test('GET /overview answers 401 without a session', async () => {
  expect((await getOverview('from=2026-01-01&to=2026-01-31', {})).status).toBe(401);
});

test('GET /overview returns zero counts for a new workspace', async () => {
  const workspace = await crm.fixture.createWorkspace();
  await crm.fixture.leads.insert([
    workspace.lead(workspace.owner, { createdAt: new Date('2026-03-29T10:00:00Z') }),
  ]);
  const answer = await getOverview('from=2026-03-29&to=2026-03-29&zone=Europe/Berlin', { Cookie: cookie });
  expect(answer.status).toBe(200);
  const overview = (await answer.json()) as Overview;
  expect(overview).toMatchObject({
    from: '2026-03-28T23:00:00.000Z',
    to: '2026-03-29T22:00:00.000Z',
    unit: 'hour',
    total: { total: 0, approveRate: null, approveRateWithoutTrash: null },
    previous: { from: '2026-03-27T23:00:00.000Z', to: '2026-03-28T23:00:00.000Z', total: 0 },
    campaigns: [],
  });
  expect(overview.steps).toHaveLength(23);
});

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

test('GET /attention lists what a member can mend, and nothing of other workspaces', async () => {
  const workspace = await crm.fixture.createWorkspace();
  const { member: owner, visitor: asOwner } = await signInAs(crm.service, workspace, 'owner');
  const { member: publisher, visitor: asPublisher } = await signInAs(crm.service, workspace, 'publisher');
  const stranger = await signInAs(crm.service, await crm.fixture.createWorkspace(), 'owner');
  const nothing = {
    landingPages: { unmapped: 0, pending: 0, archived: 0 },
    credentials: [],
    limited: [],
    rejected: [],
  };
  for (const visitor of [asOwner, asPublisher, stranger.visitor]) {
    expect((await visitor.get('/attention')).json()).toEqual(nothing);
  }

  const oldest = daysAgo(3);
  await crm.fixture.leads.insert([
    workspace.lead(publisher, { createdAt: oldest }),
    workspace.lead(publisher, { createdAt: daysAgo(1) }),
    workspace.lead(publisher, { createdAt: daysAgo(9), status: 'Trashed' }),
  ]);
  // Two of the call-backs are due, one of a lead of the owner.
  const due = daysAgo(1);
  for (const [callbackAt, assigneeId] of [
    [due, null],
    [daysAgo(0.5), owner.userId],
    [daysAgo(-1), owner.userId],
    [null, owner.userId],
  ] as const) {
    const lead = workspace.lead(publisher, { status: 'Approved' });
    await crm.fixture.leads.insert([lead]);
    await crm.fixture.sql(`UPDATE lead SET callback_at = $2, assignee_id = $3 WHERE id = $1`, [
      lead.id,
      callbackAt,
      assigneeId,
    ]);
  }
  await workspace.mapLandingPage('unmapped', null);
  await workspace.mapLandingPage('mapped', workspace.demoCampaignId);
  await workspace.mapLandingPage('old', await workspace.addCampaign('OLD'));
  await workspace.mapLandingPage('waits', null);
  await workspace.mapLandingPage('dismissed', null);
  await crm.fixture.sql(`UPDATE campaign SET status = 'archived' WHERE workspace_id = $1 AND code = 'OLD'`, [
    workspace.id,
  ]);
  await crm.fixture.sql(
    `UPDATE landing_page SET pending_since = now(), dismissed_at = CASE WHEN name = 'dismissed' THEN now() END
     WHERE workspace_id = $1 AND name IN ('waits', 'dismissed')`,
    [workspace.id],
  );
  const expire = (apiKeyId: string, expiresAt: Date, usedAt: Date) =>
    crm.fixture.sql(
      `UPDATE api_key SET created_at = '2026-01-01', expires_at = $2, last_used_at = $3 WHERE id = $1`,
      [apiKeyId, expiresAt, usedAt],
    );
  const soon = daysAgo(-2);
  const ended = daysAgo(2);
  await expire(owner.apiKeyId, soon, daysAgo(0.1));
  await expire(publisher.apiKeyId, ended, ended);
  // Not listed: a key that expires later, and an unused key.
  await expire((await workspace.addMember('manager')).apiKeyId, daysAgo(-30), daysAgo(1));
  await expire((await workspace.addMember('manager')).apiKeyId, soon, daysAgo(60));

  // A key that expired long ago and is still sent, and one that was revoked on purpose.
  const [stillUsed, revoked] = [
    (await workspace.addMember('manager')).apiKeyId,
    (await workspace.addMember('manager')).apiKeyId,
  ];
  for (const apiKeyId of [stillUsed, revoked]) await expire(apiKeyId, daysAgo(20), daysAgo(20));
  await crm.fixture.sql('UPDATE api_key SET revoked_at = now() WHERE id = $1', [revoked]);

  // Requests of the last 24 hours, one of them without an error, and older ones.
  for (const [apiKeyId, status, at] of [
    [owner.apiKeyId, 429, daysAgo(0.5)],
    [owner.apiKeyId, 429, daysAgo(0.9)],
    [owner.apiKeyId, 201, daysAgo(0.1)],
    [owner.apiKeyId, 429, daysAgo(2)],
    [publisher.apiKeyId, 429, daysAgo(2)],
    [stillUsed, 401, daysAgo(0.5)],
    [stillUsed, 401, daysAgo(2)],
    [revoked, 401, daysAgo(0.5)],
  ] as const) {
    await crm.fixture.sql(
      `INSERT INTO api_request (api_key_id, at, id, workspace_id, service, method, route, status, duration_ms)
       VALUES ($1, $2, gen_random_uuid(), $3, 'intake', 'POST', '/api/v1/leads', $4, 1)`,
      [apiKeyId, at, workspace.id, status],
    );
  }
  const limited = {
    id: owner.apiKeyId,
    name: expect.any(String),
    requests: 2,
    lastAt: expect.any(String),
  };

  const credential = (id: string, expiresAt: Date) => ({
    id,
    kind: 'apiKey',
    name: expect.any(String),
    expiresAt: expiresAt.toISOString(),
  });
  expect((await asOwner.get('/attention')).json<Attention>()).toEqual({
    waiting: { leads: 2, isMore: false, oldestAt: oldest.toISOString() },
    callbacks: { leads: 2, isMore: false, ofCaller: 1, oldestAt: due.toISOString() },
    landingPages: { unmapped: 1, pending: 1, archived: 1 },
    credentials: [
      { ...credential(publisher.apiKeyId, ended), member: 'Test Person' },
      credential(owner.apiKeyId, soon),
    ],
    limited: [limited],
    rejected: [{ ...limited, id: stillUsed, requests: 1, member: expect.any(String) }],
  });
  // A publisher cannot change statuses or landing pages.
  const own = { ...nothing, credentials: [credential(publisher.apiKeyId, ended)] };
  expect((await asPublisher.get('/attention')).json()).toEqual(own);
  expect((await stranger.visitor.get('/attention')).json()).toEqual(nothing);

  // A key that another key replaces is mended.
  await crm.fixture.sql(
    `INSERT INTO api_key (id, workspace_id, user_id, name, hash, prefix, replaces_id)
     SELECT gen_random_uuid(), workspace_id, user_id, 'Next', sha256(hash), prefix, id FROM api_key WHERE id = $1`,
    [publisher.apiKeyId],
  );
  expect((await asPublisher.get('/attention')).json()).toEqual(nothing);
});

test('the campaigns have counts of the leads that a member may see, and managers see their publishers', () =>
  onOneDay(async () => {
    const workspace = await crm.fixture.createWorkspace();
    const { member: owner, visitor: asOwner } = await signInAs(crm.service, workspace, 'owner');
    const { member: publisher, visitor: asPublisher } = await signInAs(crm.service, workspace, 'publisher');
    const stranger = await signInAs(crm.service, await crm.fixture.createWorkspace(), 'owner');
    await workspace.mapLandingPage('quiz', workspace.demoCampaignId);
    await crm.fixture.leads.insert([
      workspace.lead(publisher, { createdAt: daysAgo(20), status: 'Paid' }),
      workspace.lead(publisher, { createdAt: daysAgo(1) }),
      workspace.lead(owner, { createdAt: daysAgo(0), status: 'Approved' }),
      workspace.lead(owner, { createdAt: daysAgo(40), status: 'Trashed' }),
    ]);
    const figuresOf = async (visitor: typeof asOwner) => {
      const campaigns = (await visitor.get('/campaign-figures')).json<CampaignFigures[]>();
      return campaigns.find(({ code }) => code === 'DEMO');
    };
    const days = (...last: number[]) => [...Array.from({ length: 14 - last.length }, () => 0), ...last];
    const all = await figuresOf(asOwner);
    expect(all).toMatchObject({ total: 4, approveRate: 0.5, days: days(1, 1), landingPages: 1 });
    expect(all?.lastLeadAt?.slice(0, 10)).toBe(daysAgo(0).toISOString().slice(0, 10));
    await crm.fixture.sql(`UPDATE campaign SET payout_amount = 9, payout_currency = 'EUR' WHERE id = $1`, [
      workspace.demoCampaignId,
    ]);
    await crm.fixture.sql(
      `INSERT INTO publisher_payout (workspace_id, campaign_id, user_id, amount, currency) VALUES ($1, $2, $3, 12.5, 'USD')`,
      [workspace.id, workspace.demoCampaignId, publisher.userId],
    );
    expect((await figuresOf(asOwner))?.payout).toEqual({ amount: '9', currency: 'EUR' });
    const own = await figuresOf(asPublisher);
    expect(own).toMatchObject({ total: 2, approveRate: 0.5, days: days(1, 0) });
    expect(own?.payout).toEqual({ amount: '12.5', currency: 'USD' });
    expect(own).not.toHaveProperty('landingPages');
    expect(own?.lastLeadAt?.slice(0, 10)).toBe(daysAgo(1).toISOString().slice(0, 10));
    expect(await figuresOf(stranger.visitor)).toMatchObject({ total: 0, days: days(), landingPages: 0 });

    // The figures of one publisher. A publisher gets no others.
    const figuresFor = async (visitor: typeof asOwner, user: string) => {
      const answer = await visitor.get(`/campaign-figures?user=${user}`);
      return answer.status === 200
        ? answer.json<CampaignFigures[]>().find(({ code }) => code === 'DEMO')?.total
        : answer.status;
    };
    expect(await figuresFor(asOwner, publisher.userId.toUpperCase())).toBe(2);
    expect(await figuresFor(asOwner, owner.userId)).toBe(2);
    expect(await figuresFor(asPublisher, publisher.userId)).toBe(2);
    expect(await figuresFor(asPublisher, owner.userId)).toBe(403);
    expect(await figuresFor(asOwner, 'x')).toBe(400);
    expect(await figuresFor(stranger.visitor, publisher.userId)).toBe(0);

    // A campaign with leads of one user in the last 30 days has the name of the user.
    const single = await workspace.addCampaign('SINGLE');
    await crm.fixture.leads.insert([
      workspace.lead(publisher, { campaignId: single }),
      workspace.lead(owner, { campaignId: single, createdAt: daysAgo(40) }),
    ]);
    const only = { userId: publisher.userId, name: 'Test Person' };
    expect(
      (await asOwner.get('/campaign-publishers'))
        .json<PublishersByCampaign>()
        .toSorted((a, b) => b.publishers - a.publishers),
    ).toEqual([
      { campaignId: workspace.demoCampaignId, publishers: 2 },
      { campaignId: single, publishers: 1, only },
    ]);
    expect((await asPublisher.get('/campaign-publishers')).status).toBe(403);
    expect((await stranger.visitor.get('/campaign-publishers')).json()).toEqual([]);

    const path = `/campaigns/${workspace.demoCampaignId}/publishers`;
    expect((await asOwner.get(path)).json<CampaignPublishers>().publishers).toMatchObject([
      { value: publisher.userId, name: 'Test Person', total: 2, approveRate: 0.5 },
      { value: owner.userId, total: 1, Approved: 1 },
    ]);
    expect((await stranger.visitor.get(path)).status).toBe(404);
  }));

test.each([
  ['from=2026-01-02&to=2026-01-01', 'to'],
  ['from=2010-01-01&to=2026-01-01', 'to'],
  ['from=2026-01-01&to=2026-01-01&zone=Nowhere/Land', 'zone'],
  ['from=2026-01-01&to=2026-01-01&zone=%00', 'zone'],
  ['from=2026-02-30&to=2026-03-01', 'from'],
  ['from=today&to=2026-03-01', 'from'],
  ['from=0000-01-01&to=0000-01-02', 'from'],
  ['from=2026-03-01&to=2026-03-02&compareFrom=2026-02-01', 'compareTo'],
  ['from=2026-03-01&to=2026-03-02&compareFrom=soon&compareTo=2026-02-01', 'compareFrom'],
  ['to=2026-03-01', 'from'],
  ['from=2026-03-01', 'to'],
  ['from=2026-03-01&to=2026-03-01&range=7d', 'range'],
])('GET /overview rejects %s with 400 and names %s', async (query, parameter) => {
  const answer = await getOverview(query, { Cookie: cookie, Accept: 'application/problem+json' });
  expect(answer.status).toBe(400);
  const { errors } = (await answer.json()) as { errors: { parameter: string }[] };
  expect(errors.map((error) => error.parameter)).toContain(parameter);
});
