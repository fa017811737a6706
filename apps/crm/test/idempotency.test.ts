import { randomUUID } from 'node:crypto';
import { earlierId, type Lead } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { afterAll, describe, expect, test } from 'vitest';
import { invalidInput, leadsPath, ok, startTwoCrms } from './leads-api.ts';

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture, services } = crms;
const [api] = apis;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const other = await fixture.createWorkspace();

const body = {
  campaignCode: 'DEMO',
  name: personalData.name,
  phone: personalData.phone,
  address: personalData.address,
  email: personalData.email,
  country: 'GB',
  region: 'r',
  city: 'c',
  street: 's',
  zipcode: 'z',
  website: 'w',
  description: personalData.description,
  note: { deep: [1, null] },
};
const reused = {
  success: false,
  error: 'validation',
  message: 'The Idempotency-Key was used for another request',
};

const create = (key: string, sent: object = body, member: TestMember = owner) =>
  api.create(member, sent, { 'Idempotency-Key': key });
const created = async (key: string, sent: object = body, member: TestMember = owner) =>
  ok<{ lead: Lead }>(await create(key, sent, member)).lead;
/** Changes the status by the API, so that the instance does not use a cached campaign. */
const setStatus = async (campaignId: string, status: string) => {
  const path = `/api/v1/campaigns/${campaignId}`;
  ok(await services[0].send({ method: 'PATCH', path, headers: { ...owner.headers }, body: { status } }));
};
const countOf = async (workspaceId: string) => {
  const [row] = await fixture.sql<{ count: number }>(
    'SELECT count(*)::int AS count FROM lead WHERE workspace_id = $1',
    [workspaceId],
  );
  return row?.count ?? 0;
};

describe('Idempotency-Key', () => {
  test('sent 50 times concurrently to 2 instances creates one lead, and all responses are equal', async () => {
    for (const detectsDuplicates of [false, true]) {
      const own = await fixture.createWorkspace();
      const seconds = detectsDuplicates ? 3600 : null;
      await fixture.sql('UPDATE campaign SET duplicate_window_seconds = $2 WHERE id = $1', [
        own.demoCampaignId,
        seconds,
      ]);
      const key = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          apis[i % 2 === 0 ? 0 : 1].create(own.owner, body, { 'Idempotency-Key': key }),
        ),
      );
      const texts = new Set(answers.map((answer) => JSON.stringify(ok(answer))));
      expect(texts.size).toBe(1);
      expect(answers[0]?.json()).toMatchObject({ lead: { status: 'OnHold' } });
      expect(await countOf(own.id)).toBe(1);
    }
  });

  test('is rejected with 422 if any field differs, and no lead is created', async () => {
    const key = randomUUID();
    await workspace.addCampaign('SECOND');
    await created(key);
    const count = await countOf(workspace.id);
    const fields = Object.keys(body).filter((field) => field !== 'note');
    const changed = (field: string, value: unknown) => ({ ...body, [field]: value });
    const others = [
      ...fields.map((field) =>
        changed(field, field === 'campaignCode' ? 'SECOND' : field === 'email' ? 'x@y.io' : 'other'),
      ),
      ...['address', 'email', 'country', 'note'].map((field) => changed(field, undefined)),
      { ...body, note: { deep: [1, 2] } },
      { ...body, more: 1 },
      { ...body, campaignCode: 'UNKNOWN' },
      { ...body, name: `${body.name} ` },
    ];
    for (const sent of others) {
      const answer = await create(key, sent);
      expect([sent, answer.status, answer.json()]).toEqual([sent, 422, reused]);
    }
    expect(await countOf(workspace.id)).toBe(count);
  });

  test('sent concurrently with 2 contents creates one lead, and the other content gets 422', async () => {
    for (let round = 0; round < 10; round++) {
      const key = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          apis[i % 2 === 0 ? 0 : 1].create(
            owner,
            { ...body, city: `city ${i % 2}` },
            { 'Idempotency-Key': key },
          ),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 422, 422, 422, 422]);
    }
  });

  test('with the fields in another order returns the same lead', async () => {
    const key = randomUUID();
    const reversed = Object.fromEntries(Object.entries(body).toReversed());
    expect(await created(key, reversed)).toEqual(await created(key));
  });

  test('is independent for another user of the workspace and in another workspace', async () => {
    const key = randomUUID();
    const manager = await workspace.addMember('manager');
    const lead = await created(key);
    const ofManager = await created(key, { ...body, city: 'Paris' }, manager);
    expect(ofManager.id).not.toBe(lead.id);
    expect(ofManager.userId).toBe(manager.userId);
    const theirs = await created(key, body, other.owner);
    expect(theirs.id).not.toBe(lead.id);
    expect(theirs).toMatchObject({ userId: other.owner.userId, campaignId: other.demoCampaignId });
  });

  test('may be any text of 1 to 255 characters, compared exactly', async () => {
    const ids = new Set<string>();
    const keys = [
      'x'.repeat(255),
      'x'.repeat(254),
      'a',
      'A',
      'a,b',
      '"a"',
      "'",
      '\xe9',
      'order 4711',
      '{}',
      '0',
    ];
    for (const key of keys) {
      const lead = await created(key);
      expect(await created(key)).toEqual(lead);
      ids.add(lead.id);
    }
    expect(ids.size).toBe(keys.length);
    for (const key of ['', 'x'.repeat(256), ' ']) {
      const answer = await create(key);
      expect([key, answer.status, answer.json()]).toEqual([key, 400, invalidInput]);
    }
  });

  test('of a rejected request can be reused with other content', async () => {
    const key = randomUUID();
    await workspace.addCampaign('PAUSED', 'paused');
    for (const sent of [
      { ...body, name: '' },
      { ...body, campaignCode: 'PAUSED' },
      { ...body, email: 'x' },
    ]) {
      expect((await create(key, sent)).status).toBe(400);
    }
    expect((await create(key, { ...body, city: 'Paris' })).status).toBe(200);
  });

  test('returns the current lead even if its campaign was archived since', async () => {
    const key = randomUUID();
    const campaignId = await workspace.addCampaign('SOON-PAUSED');
    const sent = { ...body, campaignCode: 'SOON-PAUSED' };
    const lead = await created(key, sent);
    await setStatus(campaignId, 'archived');
    expect(await created(key, sent)).toEqual(lead);
    expect((await create(randomUUID(), sent)).status).toBe(400);
    ok(await api.edit(owner, lead.id, { name: 'Grace', phone: '1', status: 'Approved', note: 'x' }));
    expect(await created(key, sent)).toMatchObject({
      id: lead.id,
      name: 'Grace',
      phone: '1',
      status: 'Approved',
    });
    expect((await create(key, { ...sent, name: 'Grace' })).status).toBe(422);
  });

  test('of a lead that the release before stored returns that lead for the same content', async () => {
    const key = randomUUID();
    const campaignId = await workspace.addCampaign('PAUSED-LATER');
    const sent = { ...body, campaignCode: 'PAUSED-LATER' };
    const id = earlierId({ ...owner, isBrowser: false }, key);
    const lead = await created(randomUUID(), sent);
    await fixture.copyLead(lead.id, id);
    expect(await created(key, sent)).toEqual({ ...lead, id });
    await setStatus(campaignId, 'paused');
    expect(await created(key, sent)).toEqual({ ...lead, id });
    expect((await created(key, { ...body, city: 'Paris' })).id).not.toBe(id);
  });

  test('of a lead from the intake is rejected with 422', async () => {
    const key = randomUUID();
    const lead = await created(key);
    await fixture.sql(`UPDATE lead SET source = 'intake', content_hash = NULL WHERE id = $1`, [lead.id]);
    const answer = await create(key);
    expect([answer.status, answer.json()]).toEqual([422, reused]);
  });

  test('of an import does not apply to a create, also with other content', async () => {
    const own = await fixture.createWorkspace();
    const key = randomUUID();
    const imported = await services[0].send({
      method: 'POST',
      path: `${leadsPath}/import`,
      headers: { ...own.owner.headers, 'Content-Type': 'text/csv', 'Idempotency-Key': key },
      body: 'campaignCode,name,phone\nDEMO,Ada,1\n',
    });
    expect(imported.json()).toMatchObject({ accepted: 1 });
    const lead = await created(key, body, own.owner);
    expect(await created(key, body, own.owner)).toEqual(lead);
    expect(await countOf(own.id)).toBe(2);
  });

  test('makes repeated requests return one lead; without it, each request creates a lead', async () => {
    const lead = await created(randomUUID());
    expect(await api.get(owner, lead.id)).toMatchObject({ id: lead.id, version: 1 });
    const first = ok<{ lead: Lead }>(await api.create(owner, body)).lead;
    const second = ok<{ lead: Lead }>(await api.create(owner, body)).lead;
    expect(first.id).not.toBe(second.id);
    // HTTP joins the values of a repeated header with a comma.
    const answer = await services[0].send({
      method: 'POST',
      path: leadsPath,
      headers: { ...owner.headers, 'Idempotency-Key': ['a1', 'b2'] },
      body,
    });
    expect(answer.json<{ lead: Lead }>().lead).toEqual(await created('a1, b2'));
  });
});
