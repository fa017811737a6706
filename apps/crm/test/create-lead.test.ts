import type { TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const path = '/api/v1/order/leads';
const person = { campaignCode: 'DEMO', name: personalData.name, phone: personalData.phone };
const unknownCampaign = { success: false, error: 'validation', message: 'Unknown or inactive campaign' };

const create = (body: unknown, member: TestMember = owner) =>
  service.send({ method: 'POST', path, headers: { ...member.headers }, body });

interface Created {
  success: boolean;
  lead: Record<string, unknown>;
}

describe('campaignCode', () => {
  test('is rejected with 400 if its campaign is unknown, paused or archived', async () => {
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

  test('may name the default campaign', async () => {
    const answer = await create({ ...person, campaignCode: 'default' });
    expect(answer.json<Created>().lead['campaignId']).toBe(workspace.defaultCampaignId);
  });

  test('may be any text', async () => {
    const codes = ["o'neill; --", 'кампания', '👩‍👩‍👧', 'x'.repeat(255), 'a\tb'];
    for (const code of codes) {
      const id = await workspace.addCampaign(code);
      const answer = await create({ ...person, campaignCode: code });
      expect(answer.json<Created>().lead['campaignId']).toBe(id);
    }
  });
});

test('a created lead has no ip, even if the request has X-Forwarded-For', async () => {
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

test('the phone number is parsed by the rules of the country and stored as sent', async () => {
  for (const [phone, country, e164] of [
    ['020 7946 0958', 'GB', '+442079460958'],
    ['020 7946 0958', 'gb', '+442079460958'],
    ['020 7946 0958', 'United Kingdom', null],
    ['020 7946 0958', undefined, null],
    [personalData.phone, 'US', '+442079460958'],
  ]) {
    const { lead } = (await create({ ...person, phone, country })).json<Created>();
    expect(lead['phone']).toBe(phone);
    const [row] = await fixture.sql('SELECT phone_e164 FROM lead WHERE id = $1', [lead['id']]);
    expect(row).toEqual({ phone_e164: e164 });
  }
});

test('100 leads that are created concurrently are each stored once', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, () => create(person)));
  const ids = answers.map((answer) => answer.json<Created>().lead['id']);
  expect(new Set(ids).size).toBe(100);
  const [row] = await fixture.sql('SELECT count(*)::int AS count FROM lead WHERE id = ANY($1::uuid[])', [
    ids,
  ]);
  expect(row).toEqual({ count: 100 });
});
