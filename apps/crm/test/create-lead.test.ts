import { canary } from '@leads/test-kit/canaries';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const path = '/api/v1/order/leads';
const person = { campaignCode: 'DEMO', name: canary.name, phone: canary.phone };
const invalid = { success: false, error: 'validation', message: 'Invalid input data' };
const unknownCampaign = { success: false, error: 'validation', message: 'Unknown or inactive campaign' };

const create = (body: unknown, member: TestMember = owner) =>
  service.send({ method: 'POST', path, headers: { ...member.headers }, body });

interface Created {
  success: boolean;
  lead: Record<string, unknown>;
}

test('spec 4.1: a lead with only what is required', async () => {
  const answer = await create(person);
  expect(answer.status).toBe(200);
  const { lead } = answer.json<Created>();
  expect(answer.json()).toEqual({
    success: true,
    lead: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: canary.name,
      phone: canary.phone,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: lead['createdAt'],
      campaignId: workspace.demoCampaignId,
      userId: owner.userId,
      status: 'OnHold',
    },
  });
});

test('spec 2.2: a lead with every field shows address, country and region, and none of the others', async () => {
  const answer = await create({
    ...person,
    address: canary.address,
    email: canary.email,
    country: 'GB',
    region: 'Greater London',
    city: 'London',
    street: 'Canary Wharf',
    zipcode: 'E14 5AB',
    website: 'https://example.io',
    description: canary.description,
  });
  const { lead } = answer.json<Created>();
  expect(Object.keys(lead).toSorted().join(' ')).toBe(
    'address campaignId country createdAt id name phone region status updatedAt userId',
  );
  expect(lead).toMatchObject({ address: canary.address, country: 'GB', region: 'Greater London' });
  const list = await service.send({ path: `${path}?limit=1`, headers: { ...owner.headers } });
  expect(list.json()).toEqual([lead]);
});

test('spec 2.1: every required field is required, and not empty', async () => {
  for (const field of Object.keys(person)) {
    for (const value of [undefined, null, '', 7, true, ['x'], { x: 1 }]) {
      const answer = await create({ ...person, [field]: value });
      expect([field, value, answer.status, answer.json()]).toEqual([field, value, 400, invalid]);
    }
  }
});

test('spec 2.1: email must be an email and end in .io, in any case', async () => {
  for (const email of ['a@b.io', 'A.B+c@d-e.f.IO', 'a@b.Io', 'a@b.iO', "o'neill@b.io"]) {
    expect([email, (await create({ ...person, email })).status]).toEqual([email, 200]);
  }
  const refused = [
    'a@b.com',
    'a@b.io.com',
    'a@b.xio',
    'a@bio',
    '.io',
    'a.io',
    '@b.io',
    'a@.io',
    'a b@c.io',
    'a@b.io ',
  ];
  for (const email of [...refused, '', 'a@b.ioo', null, 7]) {
    const answer = await create({ ...person, email });
    expect([email, answer.status, answer.json()]).toEqual([email, 400, invalid]);
  }
});

test('spec 3: a lead starts OnHold, whatever the body says', async () => {
  for (const status of ['Paid', 'Approved', 'Trashed', 'nonsense', 7]) {
    const answer = await create({ ...person, status });
    expect([answer.status, answer.json<Created>().lead['status']]).toEqual([200, 'OnHold']);
  }
});

describe('spec 4.1: the campaign', () => {
  test('one that is unknown, paused or archived is refused', async () => {
    await workspace.addCampaign('PAUSED', 'paused');
    await workspace.addCampaign('ARCHIVED', 'archived');
    for (const campaignCode of [
      'PAUSED',
      'ARCHIVED',
      'UNKNOWN',
      'demo',
      ' DEMO',
      'DEMO ',
      'D%',
      workspace.demoCampaignId,
    ]) {
      const answer = await create({ ...person, campaignCode });
      expect([campaignCode, answer.status, answer.json()]).toEqual([campaignCode, 400, unknownCampaign]);
    }
  });

  test('the default campaign has a code like any other', async () => {
    const answer = await create({ ...person, campaignCode: 'default' });
    expect(answer.json<Created>().lead['campaignId']).toBe(workspace.defaultCampaignId);
  });

  test('the code of any text there is finds its campaign', async () => {
    const codes = ["o'neill; --", 'кампания', '👩‍👩‍👧', 'x'.repeat(255), 'a\tb'];
    for (const code of codes) {
      const id = await workspace.addCampaign(code);
      const answer = await create({ ...person, campaignCode: code });
      expect(answer.json<Created>().lead['campaignId']).toBe(id);
    }
  });
});

test('spec 2.2: ip is absent, also with X-Forwarded-For', async () => {
  const headers = { ...owner.headers, 'X-Forwarded-For': '203.0.113.7' };
  const answer = await service.send({ method: 'POST', path, headers, body: person });
  expect(answer.json<Created>().lead).not.toHaveProperty('ip');
});

test('a lead belongs to the user whose API key created it', async () => {
  for (const role of ['manager', 'publisher'] as const) {
    const member = await workspace.addMember(role);
    expect((await create(person, member)).json<Created>().lead['userId']).toBe(member.userId);
  }
});

test('the country tells how to read a phone number, which is kept as sent', async () => {
  for (const [phone, country, e164] of [
    ['020 7946 0958', 'GB', '+442079460958'],
    ['020 7946 0958', 'gb', '+442079460958'],
    ['020 7946 0958', 'United Kingdom', null],
    ['020 7946 0958', undefined, null],
    [canary.phone, 'US', '+442079460958'],
  ]) {
    const { lead } = (await create({ ...person, phone, country })).json<Created>();
    expect(lead['phone']).toBe(phone);
    const [row] = await fixture.sql('SELECT phone_e164 FROM lead WHERE id = $1', [lead['id']]);
    expect(row).toEqual({ phone_e164: e164 });
  }
});

test('leads created at once are all stored, each once', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, () => create(person)));
  const ids = answers.map((answer) => answer.json<Created>().lead['id']);
  expect(new Set(ids).size).toBe(100);
  const [row] = await fixture.sql('SELECT count(*)::int AS count FROM lead WHERE id = ANY($1::uuid[])', [
    ids,
  ]);
  expect(row).toEqual({ count: 100 });
});
