import { getLeadEvent } from '@leads/core/event';
import type { LeadDetail } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, test } from 'vitest';
import { ok, startTwoCrms } from './leads-api.ts';
import { createStatusTeam } from './status-team.ts';

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture } = crms;
const [api] = apis;
const { workspace, owner, manager, publisher, leadsOf, leadOf } = await createStatusTeam(fixture);

test('a hold time approves leads that are not held, without a user, and a publisher sees no hold', async () => {
  const setHold = (approveAfterSeconds: unknown) =>
    crms.services[0].send({
      method: 'PATCH',
      path: `/api/v1/campaigns/${workspace.demoCampaignId}`,
      headers: owner.headers,
      body: { approveAfterSeconds },
    });
  for (const invalid of [59, 31_536_001, 60.5, -1, '60', false]) {
    const { status, text } = await setHold(invalid);
    expect([status, text]).toEqual([400, expect.any(String)]);
  }
  expect((await setHold(60)).json()).toMatchObject({ campaign: { approveAfterSeconds: 60 } });
  const create = async (member: TestMember) => {
    const answer = await api.create(member, { name: 'Ada', phone: '+44 20 7946 0958' });
    return ok<{ lead: { id: string } }>(answer).lead.id;
  };
  const [due, held] = [await create(publisher), await create(publisher)];
  const { createdAt, approveAt = '' } = await api.get(publisher, held);
  expect(Date.parse(approveAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(60_000);

  // A hold needs a reason and an owner or manager, and is set without a status.
  for (const [member, body, status] of [
    [publisher, { hold: true, reason: 'Proof' }, 403],
    [publisher, { hold: false }, 403],
    [manager, { hold: true }, 400],
    [manager, { hold: false, reason: 'Proof' }, 400],
    [manager, { hold: true, reason: 'Proof', status: 'Trashed' }, 400],
    [manager, { hold: 'true', reason: 'Proof' }, 400],
    [manager, { holdReason: 'Proof' }, 400],
    [manager, { approveAt }, 400],
  ] as const) {
    expect([body, (await api.edit(member, held, body)).status]).toEqual([body, status]);
  }
  // A publisher sees the reason of a payout, so it must not be the reason of a hold.
  const payout = { amount: '5', currency: 'EUR' };
  const both = await api.edit(
    manager,
    held,
    { hold: true, payout, reason: 'Proof' },
    { Accept: 'application/problem+json' },
  );
  expect([both.status, both.json()]).toMatchObject([
    400,
    { errors: [{ pointer: '#/hold', detail: 'must be false with a payout' }] },
  ]);
  const edited = ok<{ lead: LeadDetail }>(await api.edit(manager, held, { hold: true, reason: 'Proof' }));
  expect(edited.lead).toMatchObject({ version: 2, holdReason: 'Proof', status: 'OnHold' });
  expect(edited.lead).not.toHaveProperty('approveAt');
  const ofPublisher = await api.get(publisher, held);
  expect(ofPublisher).not.toHaveProperty('holdReason');
  expect(ofPublisher).not.toHaveProperty('approveAt');
  expect(await api.history(publisher, held)).toHaveLength(1);
  expect(await api.history(owner, held)).toMatchObject([
    { type: 'created' },
    { type: 'updated', userId: manager.userId, fields: { holdReason: { to: 'Proof' } } },
  ]);

  await fixture.sql(
    `UPDATE lead SET approve_at = now(), created_at = now() - interval '1 hour' WHERE id = ANY($1)`,
    [[due, held]],
  );
  // Both instances look for due leads.
  await expect.poll(async () => (await api.get(owner, due)).status).toBe('Approved');
  const approval = {
    version: 2,
    type: 'status_changed',
    from: 'OnHold',
    to: 'Approved',
    reason: 'hold_ended',
  };
  expect((await api.history(publisher, due))[1]).toEqual({ ...approval, createdAt: expect.any(String) });
  expect((await api.edit(manager, due, { hold: true, reason: 'Proof' })).status).toBe(409);
  expect((await api.get(owner, held)).status).toBe('OnHold');

  const freed = ok<{ lead: LeadDetail }>(await api.edit(manager, held, { hold: false }));
  expect(freed.lead).toMatchObject({ version: 3, approveAt: expect.any(String) });
  expect(freed.lead).not.toHaveProperty('holdReason');
  await expect.poll(async () => (await api.get(owner, held)).status).toBe('Approved');

  for (const off of [0, null]) {
    expect((await setHold(60)).json()).toMatchObject({ campaign: { approveAfterSeconds: 60 } });
    const { campaign } = (await setHold(off)).json<{ campaign: object }>();
    expect(campaign).not.toHaveProperty('approveAfterSeconds');
  }
});

/** Creates a lead that the manager holds. Returns its id. */
async function heldLead(): Promise<string> {
  const id = await leadOf('OnHold');
  ok(await api.edit(manager, id, { hold: true, reason: 'Proof' }));
  return id;
}

describe('a change of the status of a held lead', () => {
  test.each([
    ['an edit of the status', (id: string) => api.edit(manager, id, { status: 'Approved' })],
    [
      'an edit of other fields too',
      (id: string) => api.edit(manager, id, { status: 'Approved', city: 'Rome' }),
    ],
    ['a bulk change', (id: string) => api.changeStatuses(manager, [id], 'Approved')],
  ])('by %s ends the hold for good, and the history has the reason', async (_way, approve) => {
    const id = await heldLead();
    const answer = await approve(id);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('Proof');
    expect(await api.get(owner, id)).not.toHaveProperty('holdReason');
    ok(await api.edit(manager, id, { status: 'OnHold' }));
    expect(await api.get(owner, id)).not.toHaveProperty('holdReason');

    const [, , approval, back] = await api.history(owner, id);
    expect(approval).toMatchObject({ to: 'Approved', fields: { holdReason: { from: 'Proof' } } });
    expect(approval?.fields?.['holdReason']).not.toHaveProperty('to');
    expect(back).not.toHaveProperty('fields');
    const reasons = await Promise.all(
      [2, 3, 4].map(async (version) => {
        const { data } = await getLeadEvent(fixture.leads, { ...owner, scope: 'full' }, id, version);
        return data.lead.holdReason;
      }),
    );
    expect(reasons).toEqual(['Proof', undefined, undefined]);
  });

  test('is shown to a publisher without the hold', async () => {
    const [id = ''] = await leadsOf('OnHold', 1, publisher);
    ok(await api.edit(manager, id, { hold: true, reason: 'Proof' }));
    ok(await api.edit(manager, id, { status: 'Approved' }));
    const [, approval, ...others] = await api.history(publisher, id);
    expect(others).toEqual([]);
    expect(approval).toMatchObject({ version: 3, from: 'OnHold', to: 'Approved' });
    expect(approval).not.toHaveProperty('fields');
  });
});
