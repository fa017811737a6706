import { randomUUID } from 'node:crypto';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { recordStatements } from '@leads/test-kit/recorded-statements';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const path = '/api/v1/landing-pages';
const invalid = { success: false, error: 'validation', message: 'Invalid input data' };
const invalidCursor = { success: false, error: 'validation', message: 'Invalid cursor' };
const unavailable = { success: false, error: 'validation', message: 'Unknown or inactive campaign' };
const forbidden = { success: false, error: 'unauthorized', message: 'This credential may not do that' };
const notFound = { success: false, error: 'error', message: 'Not found' };

interface LandingPage {
  id: string;
  name: string;
  campaignId?: string;
  campaignCode?: string;
  leads: number;
  leadsTruncated?: true;
  createdAt: string;
  updatedAt: string;
}

/** Returns one page of the list and the query of the next page. */
async function page({ headers }: TestMember, search = '') {
  const answer = await service.send({ path: path + search, headers: { ...headers } });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const { link } = answer.headers;
  const [, next] = /^<http:\/\/127\.0\.0\.1:\d+\/api\/v1\/landing-pages(\?[^<>]+)>; rel="next"$/.exec(
    String(link ?? ''),
  ) ?? [undefined, undefined];
  expect(next === undefined).toBe(link === undefined);
  return { pages: answer.json<LandingPage[]>(), next };
}

const list = async (member: TestMember, search = '') => (await page(member, search)).pages;
const post = ({ headers }: TestMember, body: unknown) =>
  service.send({ method: 'POST', path, headers: { ...headers }, body });
const patch = ({ headers }: TestMember, id: string, body: unknown) =>
  service.send({ method: 'PATCH', path: `${path}/${id}`, headers: { ...headers }, body });
const dismiss = ({ headers }: TestMember, id: string, dismissed: unknown) =>
  service.send({
    method: 'POST',
    path: `${path}/${id}/dismissal`,
    headers: { ...headers },
    body: { dismissed },
  });
const namesOf = (pages: readonly LandingPage[]) => pages.map(({ name }) => name);

async function accepted(answer: Awaited<ReturnType<typeof post>>): Promise<LandingPage> {
  const { success, landingPage } = answer.json<{ success: boolean; landingPage: LandingPage }>();
  expect([answer.status, success]).toEqual([200, true]);
  return landingPage;
}

/** Registers landing pages as the intake does. */
const register = (workspace: TestWorkspace, names: readonly string[]) =>
  fixture.landingPages.add(names.map((name) => ({ workspaceId: workspace.id, name })));

/** Returns the id of the campaign to which the intake routes leads of the landing page. */
async function routeOf({ id }: TestWorkspace, name: string): Promise<string | undefined> {
  const query = { workspaceId: id, landingPage: name, keyCampaignId: undefined };
  const [route] = await fixture.intakeRouting.findRoutes([query]);
  return route?.campaignId;
}

describe('POST /api/v1/landing-pages', () => {
  test('registers a landing page with or without a campaign', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, demoCampaignId, defaultCampaignId } = workspace;
    const unmapped = await accepted(await post(owner, { name: 'spring' }));
    expect(unmapped).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      name: 'spring',
      leads: 0,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const mapped = await accepted(await post(owner, { name: 'summer', campaignCode: 'DEMO' }));
    expect(mapped).toMatchObject({ campaignId: demoCampaignId, campaignCode: 'DEMO', leads: 0 });
    expect(await list(owner)).toEqual([unmapped, mapped]);
    expect(await routeOf(workspace, 'spring')).toBe(defaultCampaignId);
    expect(await routeOf(workspace, 'summer')).toBe(demoCampaignId);
  });

  test('rejects a taken name with 409, even if the intake registered it', async () => {
    const workspace = await fixture.createWorkspace();
    await register(workspace, ['seen']);
    for (const body of [{ name: 'seen' }, { name: 'seen', campaignCode: 'DEMO' }]) {
      const answer = await post(workspace.owner, body);
      expect([answer.status, answer.json()]).toEqual([
        409,
        { success: false, error: 'validation', message: 'A landing page with this name already exists' },
      ]);
    }
    expect(await list(workspace.owner)).toMatchObject([{ name: 'seen' }]);
    const other = await fixture.createWorkspace();
    await accepted(await post(other.owner, { name: 'seen' }));
  });

  test('rejects an invalid, missing or unknown field with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    const bodies = [
      {},
      ...['', ' ', 'a\u0000b', 'a\nb', 'x'.repeat(256), null, 7].map((name) => ({ name })),
      ...['', null, 7, 'x'.repeat(256)].map((campaignCode) => ({ name: 'x', campaignCode })),
      { name: 'x', campaignId: randomUUID() },
      [],
    ];
    for (const body of bodies) {
      const answer = await post(owner, body);
      expect([body, answer.status, answer.json()]).toEqual([body, 400, invalid]);
    }
    expect(await list(owner)).toEqual([]);
  });

  test('registers one landing page if 10 concurrent requests have the same name', async () => {
    const { owner } = await fixture.createWorkspace();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(owner, { name: 'race' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect(await list(owner)).toHaveLength(1);
  });
});

describe('landing pages beyond the cap of an API key', () => {
  /** Registers landing pages as the intake does for leads with an API key, which may register one. */
  const registerCapped = async (workspace: TestWorkspace, names: readonly string[]) => {
    const apiKeyId = randomUUID();
    const pages = names.map((name) => ({ workspaceId: workspace.id, name, apiKeyId }));
    await fixture.landingPages.add(pages, 1);
  };

  test('are listed only with pending=true, and mapping or registering them approves them', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, demoCampaignId, defaultCampaignId } = workspace;
    const publisher = await workspace.addMember('publisher');
    await registerCapped(workspace, ['first', 'junk', 'quiz', 'spring', 'summer']);
    expect(namesOf(await list(owner))).toEqual(['first']);
    const pending = await list(owner, '?pending=true');
    expect(namesOf(pending)).toEqual(['junk', 'quiz', 'spring', 'summer']);
    expect(pending[0]).toMatchObject({ pendingSince: expect.stringMatching(/Z$/) });
    expect(await list(publisher, '?pending=true')).toEqual([]);
    expect((await page(owner, '?pending=true&limit=2')).next).toContain('pending=true');
    expect(await routeOf(workspace, 'quiz')).toBe(defaultCampaignId);

    const idOf = (name: string) => String(pending.find((each) => each.name === name)?.id);
    const mapped = await accepted(await patch(owner, idOf('quiz'), { campaignCode: 'DEMO' }));
    expect(mapped).toMatchObject({ name: 'quiz', campaignCode: 'DEMO' });
    expect(mapped).not.toHaveProperty('pendingSince');
    expect(await routeOf(workspace, 'quiz')).toBe(demoCampaignId);
    await accepted(await patch(owner, idOf('spring'), { campaignCode: '' }));
    const registered = await accepted(await post(owner, { name: 'summer', campaignCode: 'DEMO' }));
    expect(registered).toMatchObject({ id: idOf('summer'), campaignId: demoCampaignId });
    expect(namesOf(await list(owner))).toEqual(['first', 'quiz', 'spring', 'summer']);
    expect(namesOf(await list(owner, '?mapped=false'))).toEqual(['first', 'spring']);
    expect(namesOf(await list(owner, '?pending=true'))).toEqual(['junk']);
    const { headers } = owner;
    const answer = await service.send({ path: `${path}?pending=false`, headers: { ...headers } });
    expect([answer.status, answer.json()]).toEqual([400, invalid]);
  });

  test('stay dismissed when leads name them again, leave room for others, and can be restored or approved', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId, demoCampaignId } = workspace;
    const names = ['first', ...Array.from({ length: 500 }, (_, n) => `junk-${String(n).padStart(3, '0')}`)];
    await registerCapped(workspace, names);
    const idOf = async (name: string) => {
      const found = await fixture.landingPages.find(workspace.id, { name });
      return found?.id ?? '';
    };
    const dismissByName = async (member: TestMember, name: string, dismissed: unknown) =>
      dismiss(member, await idOf(name), dismissed);
    const dismissed = await accepted(await dismissByName(owner, 'junk-000', true));
    expect(dismissed).toMatchObject({ name: 'junk-000', dismissedAt: expect.stringMatching(/Z$/) });
    expect(await accepted(await dismissByName(owner, 'junk-000', true))).toEqual(dismissed);
    await accepted(await dismissByName(owner, 'junk-001', true));

    await registerCapped(workspace, ['second', 'junk-000']);
    await registerCapped(workspace, ['third', 'late', 'later', 'too-late']);
    expect(namesOf(await list(owner, '?dismissed=true'))).toEqual(['junk-000', 'junk-001']);
    const waiting = namesOf(await list(owner, '?pending=true&limit=1000'));
    expect(waiting).toHaveLength(500);
    expect(waiting).toEqual(expect.arrayContaining(['late', 'later', 'junk-002']));
    expect(waiting).not.toContain('junk-000');
    expect(namesOf(await list(owner))).toEqual(['first', 'second', 'third']);
    expect(await routeOf(workspace, 'junk-000')).toBe(defaultCampaignId);

    const restored = await accepted(await dismissByName(owner, 'junk-001', false));
    expect(restored).not.toHaveProperty('dismissedAt');
    expect(restored).toHaveProperty('pendingSince');
    const mapped = await accepted(await patch(owner, dismissed.id, { campaignCode: 'DEMO' }));
    expect(mapped).not.toHaveProperty('dismissedAt');
    expect(await routeOf(workspace, 'junk-000')).toBe(demoCampaignId);
    expect(namesOf(await list(owner, '?dismissed=true'))).toEqual([]);

    const other = await fixture.createWorkspace();
    const publisher = await workspace.addMember('publisher');
    for (const [member, name, value, status] of [
      [owner, 'first', false, 409],
      [owner, 'junk-002', 'yes', 400],
      [owner, 'unknown', true, 404],
      [other.owner, 'junk-002', true, 404],
      [publisher, 'junk-002', true, 403],
    ] as const) {
      expect([name, value, (await dismissByName(member, name, value)).status]).toEqual([name, value, status]);
    }
    const both = await service.send({ path: `${path}?pending=true&dismissed=true`, headers: owner.headers });
    expect([both.status, both.json()]).toEqual([400, invalid]);
  });

  test('are at most 500 for each workspace', async () => {
    const workspace = await fixture.createWorkspace();
    const names = Array.from({ length: 400 }, (_, n) => `page-${n}`);
    await registerCapped(workspace, names);
    await registerCapped(
      workspace,
      names.map((name) => `other-${name}`),
    );
    const rows = await fixture.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM landing_page WHERE workspace_id = $1 AND pending_since IS NOT NULL',
      [workspace.id],
    );
    expect(rows).toEqual([{ count: 500 }]);
    expect(await list(workspace.owner)).toHaveLength(2);
  });
});

describe('POST /api/v1/landing-pages/{id}/dismissal', () => {
  test('dismisses an approved landing page without a campaign, which waits for approval once it is restored', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId } = workspace;
    await register(workspace, ['junk', 'spring']);
    const [junk] = await list(owner);
    const id = String(junk?.id);
    const waiting = { ...junk, updatedAt: expect.any(String), pendingSince: expect.stringMatching(/Z$/) };
    const dismissed = await accepted(await dismiss(owner, id, true));
    expect(dismissed).toEqual({ ...waiting, dismissedAt: expect.stringMatching(/Z$/) });
    await register(workspace, ['junk']);
    expect(namesOf(await list(owner))).toEqual(['spring']);
    expect(await list(owner, '?dismissed=true')).toEqual([dismissed]);
    expect(await routeOf(workspace, 'junk')).toBe(defaultCampaignId);

    expect(await accepted(await dismiss(owner, id, false))).toEqual(waiting);
    expect(namesOf(await list(owner, '?pending=true'))).toEqual(['junk']);
    await accepted(await patch(owner, id, { campaignCode: '' }));
    expect(namesOf(await list(owner))).toEqual(['junk', 'spring']);
  });

  test('rejects a landing page that is mapped to a campaign with 409 until it is unmapped', async () => {
    const { owner } = await fixture.createWorkspace();
    const { id } = await accepted(await post(owner, { name: 'spring', campaignCode: 'DEMO' }));
    const rejected = await dismiss(owner, id, true);
    expect([rejected.status, rejected.json()]).toEqual([
      409,
      {
        success: false,
        error: 'validation',
        message: 'A landing page that is mapped to a campaign cannot be dismissed: unmap it first',
      },
    ]);
    await accepted(await patch(owner, id, { campaignCode: '' }));
    await accepted(await dismiss(owner, id, true));
  });

  test('rejects a landing page that another request maps at the same time', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner } = workspace;
    await register(workspace, ['spring']);
    const [spring] = await list(owner);
    const id = String(spring?.id);
    const blocked = () => fixture.countBlocked('UPDATE%landing_page%', '%FOR NO KEY UPDATE%');
    const release = await fixture.holdTable('landing_page');
    onTestFinished(release);
    const mapping = patch(owner, id, { campaignCode: 'DEMO' });
    await expect.poll(blocked).toBe(1);
    const dismissal = dismiss(owner, id, true);
    await expect.poll(blocked).toBe(2);
    await release();
    const mapped = await accepted(await mapping);
    expect((await dismissal).status).toBe(409);
    expect(await list(owner)).toEqual([mapped]);
  });
});

describe('PATCH /api/v1/landing-pages/{id}', () => {
  test('maps a landing page to a campaign, to another and to none, and routes further leads there', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, demoCampaignId, defaultCampaignId } = workspace;
    const otherId = await workspace.addCampaign('OTHER');
    await register(workspace, ['spring']);
    const [registered] = await list(owner);
    const id = String(registered?.id);
    for (const [campaignCode, campaignId, expectedRoute] of [
      ['DEMO', demoCampaignId, demoCampaignId],
      ['OTHER', otherId, otherId],
      ['', undefined, defaultCampaignId],
      ['', undefined, defaultCampaignId],
    ] as const) {
      const mapped = await accepted(await patch(owner, id, { campaignCode }));
      const campaign = campaignId === undefined ? {} : { campaignId, campaignCode };
      expect(mapped).toEqual({ ...registered, ...campaign, updatedAt: mapped.updatedAt });
      expect(await list(owner)).toEqual([mapped]);
      expect(await routeOf(workspace, 'spring')).toBe(expectedRoute);
    }
  });

  test('accepts a paused campaign, which gets the leads once it is active', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId } = workspace;
    const pausedId = await workspace.addCampaign('PAUSED', 'paused');
    const { id } = await accepted(await post(owner, { name: 'ready', campaignCode: 'PAUSED' }));
    expect((await accepted(await patch(owner, id, { campaignCode: 'PAUSED' }))).campaignId).toBe(pausedId);
    expect(await routeOf(workspace, 'ready')).toBe(defaultCampaignId);
    await fixture.campaigns.update(workspace.id, pausedId, () => ({ status: 'active' }));
    expect(await routeOf(workspace, 'ready')).toBe(pausedId);
  });

  test('rejects a campaign that is unknown, archived or of another workspace with 400 and changes nothing', async () => {
    const workspace = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    await other.addCampaign('THEIRS');
    await workspace.addCampaign('ARCHIVED', 'archived');
    const { owner } = workspace;
    const before = await accepted(await post(owner, { name: 'spring', campaignCode: 'DEMO' }));
    for (const campaignCode of ['UNKNOWN', 'ARCHIVED', 'THEIRS', 'demo', workspace.demoCampaignId]) {
      for (const answer of [
        await patch(owner, before.id, { campaignCode }),
        await post(owner, { name: 'new', campaignCode }),
      ]) {
        expect([campaignCode, answer.status, answer.json()]).toEqual([campaignCode, 400, unavailable]);
      }
    }
    expect(await list(owner)).toEqual([before]);
  });

  test('returns 404 for an id that is unknown, malformed or of another workspace', async () => {
    const { owner } = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    const theirs = await accepted(await post(other.owner, { name: 'theirs' }));
    for (const id of [randomUUID(), 'x', theirs.id, theirs.id.toUpperCase(), '%00', 'a'.repeat(500)]) {
      const answer = await patch(owner, id, { campaignCode: 'DEMO' });
      expect([id, answer.status, answer.json()]).toEqual([id, 404, notFound]);
    }
    expect(await list(other.owner)).toEqual([theirs]);
    expect(await list(owner)).toEqual([]);
  });

  test('rejects an invalid, unknown or empty change with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    const { id } = await accepted(await post(owner, { name: 'spring' }));
    const bodies = [
      {},
      ...[null, 7, true, ['DEMO'], 'x'.repeat(256)].map((campaignCode) => ({ campaignCode })),
      { campaignCode: 'DEMO', name: 'renamed' },
      { campaignId: randomUUID() },
    ];
    for (const body of bodies) {
      const answer = await patch(owner, id, body);
      expect([body, answer.status, answer.json()]).toEqual([body, 400, invalid]);
    }
  });
});

describe('GET /api/v1/landing-pages', () => {
  test('sorts by name, and landing pages added between requests cause no gap or repeat', async () => {
    const workspace = await fixture.createWorkspace();
    const names = Array.from({ length: 25 }, (_, i) => `page-${String(i).padStart(2, '0')}`);
    await register(workspace, names.toReversed());
    const found: string[] = [];
    let between = 0;
    for (let search: string | undefined = '?limit=7'; search !== undefined; ) {
      const { pages, next } = await page(workspace.owner, search);
      found.push(...namesOf(pages));
      search = next;
      // One name sorts before the pages listed so far, the other one after all.
      between += 1;
      await register(workspace, [`before-${between}`, `z-${between}`]);
    }
    expect(found).toEqual([...names, 'z-1', 'z-2', 'z-3']);
    expect(new Set(found).size).toBe(found.length);
  });

  test('has 100 items a page by default, 1,000 at most, and no link on the last page', async () => {
    const workspace = await fixture.createWorkspace();
    await register(
      workspace,
      Array.from({ length: 1001 }, (_, i) => `page-${i}`),
    );
    const { owner } = workspace;
    const first = await page(owner);
    expect([first.pages.length, first.next === undefined]).toEqual([100, false]);
    const largest = await page(owner, '?limit=1000');
    expect(largest.pages).toHaveLength(1000);
    const last = await page(owner, largest.next);
    expect([last.pages.length, last.next]).toEqual([1, undefined]);
    const all = namesOf([...largest.pages, ...last.pages]);
    expect(new Set(all).size).toBe(1001);
    expect(namesOf(first.pages)).toEqual(all.slice(0, 100));
  });

  test('lists each name once, whatever characters it has', async () => {
    const workspace = await fixture.createWorkspace();
    const names = [
      '',
      'a',
      'A',
      'á',
      'a b',
      'a-b',
      'ab',
      '%',
      '\\',
      "'",
      '"',
      '😀',
      'я',
      ' x',
      'x'.repeat(255),
      '\u0001',
    ];
    await register(workspace, names.slice(1));
    const found: string[] = [];
    for (let search: string | undefined = '?limit=1'; search !== undefined; ) {
      const { pages, next } = await page(workspace.owner, search);
      found.push(...namesOf(pages));
      search = next;
    }
    expect(found.toSorted()).toEqual(names.slice(1).toSorted());
  });

  test('filters landing pages by whether they are mapped and by campaign, also across pages', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, demoCampaignId } = workspace;
    for (let i = 0; i < 6; i++) await workspace.mapLandingPage(`p${i}`, i % 2 === 0 ? demoCampaignId : null);
    expect(namesOf(await list(owner, '?mapped=true'))).toEqual(['p0', 'p2', 'p4']);
    expect(namesOf(await list(owner, '?mapped=false'))).toEqual(['p1', 'p3', 'p5']);
    const { pages, next } = await page(owner, '?mapped=false&limit=2');
    expect(namesOf(pages)).toEqual(['p1', 'p3']);
    expect(namesOf(await list(owner, next))).toEqual(['p5']);

    await workspace.mapLandingPage('p1', await workspace.addCampaign('OTHER'));
    expect(namesOf(await list(owner, '?campaignCode=OTHER'))).toEqual(['p1']);
    const ofDemo = await page(owner, '?campaignCode=DEMO&limit=2');
    expect(namesOf([...ofDemo.pages, ...(await list(owner, ofDemo.next))])).toEqual(['p0', 'p2', 'p4']);
    // The code of another workspace's campaign is as unknown as any other.
    const stranger = await fixture.createWorkspace();
    await stranger.mapLandingPage('theirs', await stranger.addCampaign('THEIRS'));
    expect(await list(owner, '?campaignCode=THEIRS')).toEqual([]);
  });

  test('rejects any other query with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    const theirs = await accepted(await post(other.owner, { name: 'theirs' }));
    for (const search of [
      ...['0', '1001', '-1', '01', '1.5', 'x', ''].map((limit) => `?limit=${limit}`),
      '?mapped=',
      '?mapped=1',
      '?mapped=TRUE',
      '?campaignCode=',
      '?limit=1&limit=2',
      '?cursor=',
      '?offset=1',
    ]) {
      const answer = await service.send({ path: path + search, headers: { ...owner.headers } });
      expect([search, answer.status, answer.json()]).toEqual([search, 400, invalid]);
    }
    for (const cursor of ['x', randomUUID(), theirs.id, '%00', "'%20OR%20true"]) {
      const answer = await service.send({ path: `${path}?cursor=${cursor}`, headers: { ...owner.headers } });
      expect([cursor, answer.status, answer.json()]).toEqual([cursor, 400, invalidCursor]);
    }
  });
});

describe('the lead count of a landing page', () => {
  test('covers the leads of the workspace, or the own leads of a publisher', async () => {
    const workspace = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    const publisher = await workspace.addMember('publisher');
    const long = 'x'.repeat(255);
    const lead = (member: TestMember, lpName: string | undefined) => workspace.lead(member, { lpName });
    await fixture.leads.insert([
      lead(workspace.owner, 'spring'),
      lead(workspace.owner, 'spring'),
      lead(publisher, 'spring'),
      lead(publisher, 'summer'),
      lead(workspace.owner, 'Spring'),
      lead(workspace.owner, long),
      // The name is too long for a landing page, so the lead belongs to none.
      lead(workspace.owner, `${long}x`),
      lead(workspace.owner, undefined),
      other.lead(other.owner, { lpName: 'spring' }),
    ]);
    await register(workspace, ['spring', 'summer', 'autumn', long]);
    const counts = async (member: TestMember) =>
      Object.fromEntries((await list(member)).map(({ name, leads }) => [name, leads]));
    expect(await counts(workspace.owner)).toEqual({ spring: 3, summer: 1, autumn: 0, [long]: 1 });
    expect(await counts(publisher)).toEqual({ spring: 1, summer: 1 });

    const spring = (await list(workspace.owner)).find(({ name }) => name === 'spring');
    expect(await accepted(await patch(workspace.owner, String(spring?.id), { campaignCode: '' }))).toEqual({
      ...spring,
      updatedAt: expect.any(String),
    });
    await fixture.leads.insert([lead(workspace.owner, 'early')]);
    expect((await accepted(await post(workspace.owner, { name: 'early' }))).leads).toBe(1);
  });

  test('covers the newest 100,000 leads, or 1,000,000 for a whole page, says when it is truncated, and is read from the index', async () => {
    const workspace = await fixture.createWorkspace();
    const publisher = await workspace.addMember('publisher');
    // The publisher owns the 5 oldest leads.
    await fixture.sql(
      `INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, lp_name, created_at, updated_at)
       SELECT gen_random_uuid(), $1, $2, CASE WHEN n <= 5 THEN $3::uuid ELSE $4::uuid END, 'intake', 'OnHold', $5, '1',
         'busy', t, t
       FROM generate_series(1, 100010) AS n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 s' AS t) AS at`,
      [workspace.id, workspace.demoCampaignId, publisher.userId, workspace.owner.userId, personalData.name],
    );
    await fixture.sql('ANALYZE lead');
    await register(workspace, ['busy']);
    expect(await list(workspace.owner)).toMatchObject([
      { name: 'busy', leads: 100_000, leadsTruncated: true },
    ]);
    // The newest 100,000 leads include none of the publisher's.
    expect(await list(publisher)).toMatchObject([{ name: 'busy', leads: 0, leadsTruncated: true }]);

    await register(
      workspace,
      Array.from({ length: 19 }, (_, i) => `quiet-${i}`),
    );
    const [busy, quiet] = await list(workspace.owner);
    expect(busy).toMatchObject({ name: 'busy', leads: 50_000, leadsTruncated: true });
    expect(quiet).not.toHaveProperty('leadsTruncated');
    expect((await list(workspace.owner, '?limit=10'))[0]).toMatchObject({ name: 'busy', leads: 100_000 });

    const [statement] = await recordStatements(/left\(lp_name/, () => list(workspace.owner));
    const plan = await fixture.sql(`EXPLAIN ${statement?.text}`, statement?.values);
    expect(JSON.stringify(plan)).toContain('lead_workspace_id_lp_name_created_at_id_idx');
    expect(JSON.stringify(plan)).not.toContain('Sort');
  });
});

test('managers may change landing pages; publishers may only list those of their leads and their keys', async () => {
  const workspace = await fixture.createWorkspace();
  const manager = await workspace.addMember('manager');
  const { id } = await accepted(await post(manager, { name: 'm' }));
  await accepted(await patch(manager, id, { campaignCode: 'DEMO' }));

  const publisher = await workspace.addMember('publisher');
  const [key] = await fixture.sql<{ id: string }>('SELECT id FROM api_key WHERE user_id = $1', [
    publisher.userId,
  ]);
  await register(workspace, ['a-theirs', 'mine']);
  await fixture.landingPages.add([{ workspaceId: workspace.id, name: 'of-my-key', apiKeyId: key?.id ?? '' }]);
  await fixture.leads.insert([
    workspace.lead(publisher, { lpName: 'mine' }),
    workspace.lead(workspace.owner, { lpName: 'a-theirs' }),
  ]);
  const all = await list(workspace.owner);
  expect(namesOf(all)).toEqual(['a-theirs', 'm', 'mine', 'of-my-key']);
  expect(namesOf(await list(publisher))).toEqual(['mine', 'of-my-key']);
  expect(namesOf(await list(publisher, '?limit=1'))).toEqual(['mine']);
  expect(namesOf(await list(publisher, '?mapped=true'))).toEqual([]);
  // Also after the counts of the leads are aggregated.
  await expect
    .poll(() => fixture.sql('SELECT FROM lead_tally_entry WHERE workspace_id = $1', [workspace.id]))
    .toEqual([]);
  expect(namesOf(await list(publisher))).toEqual(['mine', 'of-my-key']);
  for (const body of [{ name: 'p' }, { campaignCode: '' }, '{"name":', {}]) {
    for (const answer of [await post(publisher, body), await patch(publisher, id, body)]) {
      expect([answer.status, answer.json()]).toEqual([403, forbidden]);
    }
  }
  expect(await list(workspace.owner)).toEqual(all);
});
