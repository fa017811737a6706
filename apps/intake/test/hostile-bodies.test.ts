import type { Answer } from '@leads/test-kit/http-client';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { describeHostileBodies, expectExtra, type FieldRule } from '@leads/test-kit/suites/hostile-bodies';
import { afterAll, expect } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());
const { service, fixture } = intake;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;

/** The fields of the intake lead (specification, 2.3). Limits beyond the specification are decisions of this service. */
const fields: Record<string, FieldRule> = {
  name: { required: true },
  phone: { required: true },
  s1: { maxLength: 255 },
  lp_name: {},
  address: {},
};

async function expectStored(sent: Record<string, unknown>, answer: Answer): Promise<void> {
  const { order_id: id, ...rest } = answer.json<Record<string, unknown>>();
  expect(rest).toEqual({ success: true });
  const [row] = await fixture.sql('SELECT * FROM lead WHERE id = $1', [id]);
  const { extra, created_at, updated_at, phone_e164: _, words: _words, ...stored } = row ?? {};
  const absent = [
    'email',
    'country',
    'region',
    'city',
    'street',
    'zipcode',
    'website',
    'description',
    'state',
  ];
  expect(stored).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    workspace_id: workspace.id,
    campaign_id: workspace.defaultCampaignId,
    user_id: owner.userId,
    source: 'intake',
    status: 'OnHold',
    version: 1,
    content_hash: null,
    duplicate_of: null,
    assignee_id: null,
    callback_at: null,
    approve_at: null,
    hold_reason: null,
    payout_amount: null,
    payout_currency: null,
    payout_rule: null,
    ip: '127.0.0.1',
    ...Object.fromEntries(absent.map((field) => [field, null])),
    ...Object.fromEntries(
      Object.keys(fields).map((field) => [field, Object.hasOwn(sent, field) ? sent[field] : null]),
    ),
  });
  expect(updated_at).toEqual(created_at);
  expect(Math.abs(Date.now() - Number(created_at))).toBeLessThan(60_000);
  expectExtra(extra, sent, fields);
}

describeHostileBodies({
  service,
  path: '/api/v1/leads',
  headers: { API_KEY: owner.apiKey },
  fields,
  valid: { name: personalData.name, phone: personalData.phone, address: personalData.address },
  verify: expectStored,
});
