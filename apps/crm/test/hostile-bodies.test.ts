import type { Answer } from '@leads/test-kit/http-client';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { describeHostileBodies, expectExtra, type FieldRule } from '@leads/test-kit/suites/hostile-bodies';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const path = '/api/v1/order/leads';

/** The fields of NewLead (specification, 2.1). */
const fields: Record<string, FieldRule> = {
  campaignCode: { required: true },
  name: { required: true },
  phone: { required: true },
  address: {},
  email: { email: true },
  country: {},
  region: {},
  city: {},
  street: {},
  zipcode: {},
  website: {},
  description: {},
};

/** The accepted leads by id, as the list must return them. */
const created = new Map<string, Record<string, unknown>>();

async function expectStored(sent: Record<string, unknown>, answer: Answer): Promise<void> {
  const { lead } = answer.json<{ lead: Record<string, unknown> }>();
  const { name, phone, address, region, country } = sent;
  const shown = Object.entries({ address, region, country }).filter(([, value]) => value !== undefined);
  expect(lead).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    name,
    phone,
    createdAt: lead['updatedAt'],
    updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    campaignId: sent['campaignCode'] === 'DEMO' ? workspace.demoCampaignId : workspace.defaultCampaignId,
    userId: owner.userId,
    status: 'OnHold',
    ...Object.fromEntries(shown),
  });
  created.set(String(lead['id']), lead);

  const [row] = await fixture.sql('SELECT * FROM lead WHERE id = $1', [lead['id']]);
  const { extra, created_at, updated_at, phone_e164: _, words: _words, ...stored } = row ?? {};
  expect(stored).toEqual({
    id: lead['id'],
    workspace_id: workspace.id,
    campaign_id: lead['campaignId'],
    user_id: owner.userId,
    source: 'crm',
    status: 'OnHold',
    version: 1,
    content_hash: null,
    duplicate_of: null,
    state: null,
    assignee_id: null,
    callback_at: null,
    approve_at: null,
    hold_reason: null,
    payout_amount: null,
    payout_currency: null,
    payout_rule: null,
    ip: null,
    s1: null,
    lp_name: null,
    ...Object.fromEntries(
      Object.keys(fields)
        .filter((field) => field !== 'campaignCode')
        .map((field) => [field, Object.hasOwn(sent, field) ? sent[field] : null]),
    ),
  });
  expect([created_at, updated_at]).toEqual([new Date(String(lead['createdAt'])), created_at]);
  expect(Math.abs(Date.now() - Number(created_at))).toBeLessThan(60_000);
  expectExtra(extra, sent, fields);
}

describeHostileBodies({
  service,
  path,
  headers: owner.headers,
  fields,
  valid: {
    campaignCode: 'DEMO',
    name: personalData.name,
    phone: personalData.phone,
    address: personalData.address,
  },
  refuse: ({ campaignCode }) =>
    campaignCode === 'DEMO' || campaignCode === 'default'
      ? undefined
      : { success: false, error: 'validation', message: 'Unknown or inactive campaign' },
  verify: expectStored,
});

test('spec 4.2: the list returns every accepted lead unchanged', async () => {
  expect(created.size).toBeGreaterThan(100);
  let next: string | undefined = `${path}?limit=1000`;
  const listed = new Map<string, Record<string, unknown>>();
  while (next !== undefined) {
    const answer = await service.send({ path: next, headers: owner.headers });
    expect(answer.status).toBe(200);
    for (const lead of answer.json<Record<string, unknown>[]>()) listed.set(String(lead['id']), lead);
    next = /<http:\/\/[^/]+([^>]+)>; rel="next"/.exec(String(answer.headers['link'] ?? ''))?.[1];
  }
  for (const [id, lead] of created) expect(listed.get(id)).toEqual(lead);
});
