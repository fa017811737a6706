import { randomUUID } from 'node:crypto';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const path = '/api/v1/campaigns';
const invalid = { success: false, error: 'validation', message: 'Invalid input data' };
const forbidden = { success: false, error: 'unauthorized', message: 'This credential may not do that' };
const notFound = { success: false, error: 'error', message: 'Not found' };
const defaultStaysActive = {
  success: false,
  error: 'validation',
  message: 'The default campaign stays active: make another one the default first',
};
const onlyActiveDefault = {
  success: false,
  error: 'validation',
  message: 'Only an active campaign can be the default',
};

interface Campaign {
  id: string;
  code: string;
  name: string;
  status: string;
  isDefault: boolean;
  duplicateWindowSeconds?: number;
  createdAt: string;
  updatedAt: string;
}

const list = async ({ headers }: TestMember, search = '') =>
  (await service.send({ path: path + search, headers: { ...headers } })).json<Campaign[]>();
const post = ({ headers }: TestMember, body: unknown) =>
  service.send({ method: 'POST', path, headers: { ...headers }, body });
const patch = ({ headers }: TestMember, id: string, body: unknown) =>
  service.send({ method: 'PATCH', path: `${path}/${id}`, headers: { ...headers }, body });
const codesOf = (campaigns: readonly Campaign[]) => campaigns.map(({ code }) => code);

async function accepted(answer: Awaited<ReturnType<typeof post>>): Promise<Campaign> {
  const { success, campaign } = answer.json<{ success: boolean; campaign: Campaign }>();
  expect([answer.status, success]).toEqual([200, true]);
  return campaign;
}

/** Checks the invariant: a workspace has one default campaign, and it is active. */
async function expectOneDefault({ id }: TestWorkspace, code: string = expect.any(String)) {
  const defaults = await fixture.sql<{ code: string; status: string }>(
    'SELECT code, status FROM campaign WHERE workspace_id = $1 AND is_default',
    [id],
  );
  expect(defaults).toEqual([{ code, status: 'active' }]);
}

/** Invalid values of a display text. */
const wrongTexts = ['', ' ', '\t', '\u00a0\u2003', 'a\u0000b', 'a\nb', '\u007f', 'a\u0085', 'x'.repeat(256)];
const wrongTypes = [null, 7, true, ['x'], { x: 1 }];

describe('POST /api/v1/campaigns', () => {
  test('creates an active campaign and returns it as the list does', async () => {
    const { owner, defaultCampaignId, demoCampaignId } = await fixture.createWorkspace();
    const campaign = await accepted(await post(owner, { code: 'SPRING', name: 'Spring offer' }));
    expect(campaign).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      code: 'SPRING',
      name: 'Spring offer',
      status: 'active',
      isDefault: false,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const campaigns = await list(owner);
    expect(campaigns.map(({ id }) => id)).toEqual([defaultCampaignId, demoCampaignId, campaign.id]);
    expect(campaigns[2]).toEqual(campaign);
  });

  test('stores any code and name of up to 255 characters unchanged', async () => {
    const { owner } = await fixture.createWorkspace();
    for (const text of ['x', 'é'.repeat(255), '😀'.repeat(255), ' padded ', "o'neill; --", '👩‍👩‍👧']) {
      expect(await accepted(await post(owner, { code: text, name: text }))).toMatchObject({
        code: text,
        name: text,
      });
    }
  });

  test('rejects an invalid, missing or unknown field with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    const good = { code: 'GOOD', name: 'Good' };
    const bodies = [
      ...[...wrongTexts, ...wrongTypes, undefined].flatMap((value) => [
        { ...good, code: value },
        { ...good, name: value },
      ]),
      ...[-1, 1.5, 315_360_001, 1e20, '60', null, true].map((seconds) =>
        Object.assign({ duplicateWindowSeconds: seconds }, good),
      ),
      ...['true', 1, null].map((isDefault) => Object.assign({ isDefault }, good)),
      { ...good, status: 'paused' },
      { ...good, id: randomUUID() },
      [],
    ];
    for (const body of bodies) {
      const answer = await post(owner, body);
      expect([body, answer.status, answer.json()]).toEqual([body, 400, invalid]);
    }
    expect(codesOf(await list(owner))).toEqual(['default', 'DEMO']);
  });

  test('treats a duplicate window of 0 as none, and stores one of up to 10 years', async () => {
    const { owner } = await fixture.createWorkspace();
    for (const [seconds, expectedSeconds] of [
      [0, undefined],
      [1, 1],
      [315_360_000, 315_360_000],
    ]) {
      const body = { code: `W${seconds}`, name: 'Window', duplicateWindowSeconds: seconds };
      const campaign = await accepted(await post(owner, body));
      expect(campaign.duplicateWindowSeconds).toBe(expectedSeconds);
      expect('duplicateWindowSeconds' in campaign).toBe(expectedSeconds !== undefined);
    }
  });

  test('rejects a taken code with 409, but accepts it in another case or in another workspace', async () => {
    const { owner } = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    await accepted(await post(owner, { code: 'ONCE', name: 'First' }));
    const answer = await post(owner, { code: 'ONCE', name: 'Second', isDefault: true });
    expect([answer.status, answer.json()]).toEqual([
      409,
      { success: false, error: 'validation', message: 'A campaign with this code already exists' },
    ]);
    const problem = await service.send({
      method: 'POST',
      path,
      headers: { ...owner.headers, Accept: 'application/problem+json' },
      body: { code: 'ONCE', name: 'Third' },
    });
    expect(problem.json()).toMatchObject({
      errors: [{ pointer: '#/code', detail: 'is used by another campaign' }],
    });
    expect((await list(owner)).find(({ isDefault }) => isDefault)?.code).toBe('default');
    await accepted(await post(owner, { code: 'once', name: 'Second' }));
    await accepted(await post(other.owner, { code: 'ONCE', name: 'First' }));
  });

  test('replaces the default campaign if the new one is the default', async () => {
    const workspace = await fixture.createWorkspace();
    const body = { code: 'NEW', name: 'New', isDefault: true };
    expect((await accepted(await post(workspace.owner, body))).isDefault).toBe(true);
    await expectOneDefault(workspace, 'NEW');
  });

  test('creates one campaign and one default if 10 concurrent requests have the same code', async () => {
    const workspace = await fixture.createWorkspace();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(workspace.owner, { code: 'RACE', name: 'x', isDefault: true })),
    );
    expect(answers.map(({ status }) => status).toSorted((x, y) => x - y)).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 409),
    ]);
    await expectOneDefault(workspace, 'RACE');
  });
});

describe('GET /api/v1/campaigns', () => {
  test('filters campaigns by status', async () => {
    const workspace = await fixture.createWorkspace();
    await workspace.addCampaign('P', 'paused');
    await workspace.addCampaign('A', 'archived');
    const { owner } = workspace;
    expect(codesOf(await list(owner))).toEqual(['default', 'DEMO', 'P', 'A']);
    expect(codesOf(await list(owner, '?status=active'))).toEqual(['default', 'DEMO']);
    expect(codesOf(await list(owner, '?status=paused'))).toEqual(['P']);
    expect(codesOf(await list(owner, '?status=archived'))).toEqual(['A']);
  });

  test('rejects any other query with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    for (const search of ['?status=', '?status=Active', '?status=active&status=paused', '?limit=1', '?x']) {
      const answer = await service.send({ path: path + search, headers: { ...owner.headers } });
      expect([search, answer.status, answer.json()]).toEqual([search, 400, invalid]);
    }
  });
});

describe('PATCH /api/v1/campaigns/{id}', () => {
  test('changes the given fields and keeps the others', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, demoCampaignId: id } = workspace;
    const before = (await list(owner)).find((campaign) => campaign.id === id);
    const steps: [object, object][] = [
      [{ name: 'New name' }, { name: 'New name' }],
      [{ duplicateWindowSeconds: 60 }, { duplicateWindowSeconds: 60 }],
      [{ status: 'paused' }, { status: 'paused' }],
      [
        { status: 'archived', name: 'Old' },
        { status: 'archived', name: 'Old' },
      ],
      [{ status: 'active' }, { status: 'active' }],
      [{ duplicateWindowSeconds: 0 }, { duplicateWindowSeconds: undefined }],
    ];
    const expected: Partial<Campaign> = { ...before };
    for (const [body, change] of steps) {
      const campaign = await accepted(await patch(owner, id, body));
      Object.assign(expected, change, { updatedAt: campaign.updatedAt });
      expect(campaign).toEqual(expected);
      expect('duplicateWindowSeconds' in campaign).toBe(expected.duplicateWindowSeconds !== undefined);
      expect(Date.parse(campaign.updatedAt)).toBeGreaterThanOrEqual(Date.parse(campaign.createdAt));
      expect((await list(owner)).find((each) => each.id === id)).toEqual(campaign);
    }
    await expectOneDefault(workspace, 'default');
  });

  test('makes the creation of leads fail with 400 unless the campaign is active', async () => {
    const { owner, demoCampaignId } = await fixture.createWorkspace();
    const create = async () => {
      const body = { campaignCode: 'DEMO', name: 'Canary', phone: '1' };
      const request = { method: 'POST', path: '/api/v1/order/leads', headers: { ...owner.headers }, body };
      return (await service.send(request)).status;
    };
    for (const [status, answered] of [
      ['paused', 400],
      ['active', 200],
      ['archived', 400],
    ] as const) {
      await accepted(await patch(owner, demoCampaignId, { status }));
      expect([status, await create()]).toEqual([status, answered]);
    }
  });

  test('rejects an invalid, unknown or empty change with 400 and changes nothing', async () => {
    const { owner, demoCampaignId: id } = await fixture.createWorkspace();
    const before = await list(owner);
    const bodies = [
      {},
      ...[...wrongTexts, ...wrongTypes].map((name) => ({ name })),
      ...['', 'Active', 'deleted', null, 1].map((status) => ({ status })),
      ...[-1, 0.5, 315_360_001, '60', null, false].map((seconds) => ({ duplicateWindowSeconds: seconds })),
      ...[false, 'true', 1, null].map((isDefault) => ({ isDefault })),
      { name: 'x', code: 'NEW' },
      { name: 'x', id: randomUUID() },
      [],
    ];
    for (const body of bodies) {
      const answer = await patch(owner, id, body);
      expect([body, answer.status, answer.json()]).toEqual([body, 400, invalid]);
    }
    expect(await list(owner)).toEqual(before);
  });

  test('returns 404 for an id that is unknown, malformed or of another workspace', async () => {
    const { owner, demoCampaignId } = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    const ids = [randomUUID(), 'x', `${demoCampaignId}0`, '%00', '%27', '..%2F'];
    for (const id of [...ids, other.demoCampaignId, 'a'.repeat(500)]) {
      const answer = await patch(owner, id, { name: 'Changed' });
      expect([id, answer.status, answer.json()]).toEqual([id, 404, notFound]);
    }
    expect((await list(other.owner)).map(({ name }) => name)).not.toContain('Changed');
  });

  test('rejects pausing or archiving the default campaign with 409 until another one is the default', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId, demoCampaignId } = workspace;
    for (const status of ['paused', 'archived']) {
      for (const body of [{ status }, { status, name: 'x' }, { status, isDefault: true }]) {
        const answer = await patch(owner, defaultCampaignId, body);
        expect([answer.status, answer.json()]).toEqual([409, defaultStaysActive]);
      }
    }
    expect((await list(owner))[0]).toMatchObject({ name: 'Default campaign', status: 'active' });

    // This campaign is already the default.
    expect(await accepted(await patch(owner, defaultCampaignId, { isDefault: true }))).toMatchObject({
      isDefault: true,
    });
    expect((await accepted(await patch(owner, demoCampaignId, { isDefault: true }))).isDefault).toBe(true);
    await expectOneDefault(workspace, 'DEMO');
    await accepted(await patch(owner, defaultCampaignId, { status: 'paused' }));
    await expectOneDefault(workspace, 'DEMO');
  });

  test('rejects an inactive default campaign with 409 unless the same change activates it', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, demoCampaignId } = workspace;
    for (const status of ['paused', 'archived'] as const) {
      const id = await workspace.addCampaign(status, status);
      for (const [target, body] of [
        [id, { isDefault: true }],
        [demoCampaignId, { isDefault: true, status }],
      ] as const) {
        const answer = await patch(owner, target, body);
        expect([answer.status, answer.json()]).toEqual([409, onlyActiveDefault]);
      }
      await expectOneDefault(workspace, 'default');
    }
    const [paused] = await list(owner, '?status=paused');
    await accepted(await patch(owner, String(paused?.id), { isDefault: true, status: 'active' }));
    await expectOneDefault(workspace, 'paused');
  });
});

test('a change with ifStatus is 409 and changes nothing if the campaign has another status', async () => {
  const workspace = await fixture.createWorkspace();
  const { owner, demoCampaignId: id } = workspace;
  const archived = await workspace.addCampaign('OLD', 'archived');
  for (const status of ['paused', 'active']) {
    const answer = await patch(owner, archived, { status, name: 'Changed', ifStatus: 'active' });
    expect([answer.status, answer.json()]).toEqual([
      409,
      {
        success: false,
        error: 'validation',
        message: 'The campaign is archived: its status was changed meanwhile',
      },
    ]);
  }
  expect(await list(owner, '?status=archived')).toMatchObject([{ name: 'OLD' }]);
  // The second request repeats the first one, such as after a lost answer.
  for (const status of ['paused', 'paused']) {
    expect(await accepted(await patch(owner, id, { status, ifStatus: 'active' }))).toMatchObject({ status });
  }
  expect((await patch(owner, id, { status: 'archived', ifStatus: 'gone' })).status).toBe(400);
  // The audit log has what was changed.
  const entries = await fixture.sql<{ details: object }>(
    `SELECT details FROM audit_entry WHERE action = 'campaign.changed' AND target_id = $1`,
    [id],
  );
  const paused = { details: { code: 'DEMO', status: 'paused' } };
  expect(entries).toEqual([paused, paused]);
});

describe('concurrent requests', () => {
  test('that each make another campaign the default all succeed and leave one default', async () => {
    const workspace = await fixture.createWorkspace();
    const ids = await Promise.all(Array.from({ length: 8 }, (_, i) => workspace.addCampaign(`C${i}`)));
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(ids.map((id) => patch(workspace.owner, id, { isDefault: true })));
      expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
      await expectOneDefault(workspace);
    }
  });

  test('that create default campaigns and change the default all succeed and leave one default', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId, demoCampaignId } = workspace;
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([
        ...[1, 2, 3].map((i) => post(owner, { code: `C${round}-${i}`, name: 'x', isDefault: true })),
        patch(owner, defaultCampaignId, { isDefault: true }),
        patch(owner, demoCampaignId, { isDefault: true }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      await expectOneDefault(workspace);
    }
  });

  test('that pause a campaign and make it the default get one 200 and one 409', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId } = workspace;
    for (let round = 0; round < 10; round++) {
      const id = await workspace.addCampaign(`C${round}`);
      const answers = await Promise.all([
        patch(owner, id, { status: 'paused' }),
        patch(owner, id, { isDefault: true }),
      ]);
      expect(answers.map(({ status }) => status).toSorted((x, y) => x - y)).toEqual([200, 409]);
      await expectOneDefault(workspace);
      await accepted(await patch(owner, defaultCampaignId, { isDefault: true }));
    }
  });

  test('that replace the default campaign and archive the old one leave one active default', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId, demoCampaignId } = workspace;
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([
        patch(owner, demoCampaignId, { isDefault: true }),
        patch(owner, defaultCampaignId, { status: 'archived' }),
      ]);
      expect(answers[0]?.status).toBe(200);
      expect([200, 409]).toContain(answers[1]?.status);
      await expectOneDefault(workspace, 'DEMO');
      await accepted(await patch(owner, defaultCampaignId, { isDefault: true, status: 'active' }));
    }
  });

  test('that change different fields all take effect', async () => {
    const { owner, demoCampaignId: id } = await fixture.createWorkspace();
    await Promise.all([
      patch(owner, id, { name: 'Named' }),
      patch(owner, id, { duplicateWindowSeconds: 7 }),
      patch(owner, id, { status: 'paused' }),
    ]);
    const campaign = (await list(owner)).find((each) => each.id === id);
    expect(campaign).toMatchObject({ name: 'Named', duplicateWindowSeconds: 7, status: 'paused' });
  });
});

test('managers may change campaigns; publishers may only list them and get 403 before the body is parsed', async () => {
  const workspace = await fixture.createWorkspace();
  const manager = await workspace.addMember('manager');
  const campaign = await accepted(await post(manager, { code: 'M', name: 'M' }));
  await accepted(await patch(manager, campaign.id, { name: 'N' }));

  const publisher = await workspace.addMember('publisher');
  const all = await list(workspace.owner);
  expect(await list(publisher)).toEqual(all);
  for (const body of [{ code: 'P', name: 'P' }, { name: 'P' }, '{"name":', {}]) {
    for (const answer of [
      await post(publisher, body),
      await patch(publisher, campaign.id, body),
      await patch(publisher, 'x', body),
    ]) {
      expect([answer.status, answer.json()]).toEqual([403, forbidden]);
    }
  }
  expect(await list(workspace.owner)).toEqual(all);
});
