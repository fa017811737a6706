import { getLeadEvent } from '@leads/core/event';
import type { LeadDetail, LeadStatus } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, test } from 'vitest';
import {
  forbidden,
  forEachInBatches,
  invalidInput,
  type Outcome,
  ok,
  startTwoCrms,
  unknownId,
} from './leads-api.ts';

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture } = crms;
const [api] = apis;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const manager = await workspace.addMember('manager');
const publisher = await workspace.addMember('publisher');
const other = await fixture.createWorkspace();

const statuses: readonly LeadStatus[] = ['OnHold', 'Trashed', 'Paid', 'Approved'];
/** The allowed transitions. */
const allowedTransitions: Readonly<Record<LeadStatus, readonly LeadStatus[]>> = {
  OnHold: ['Approved', 'Trashed'],
  Approved: ['Paid', 'OnHold', 'Trashed'],
  Trashed: ['OnHold'],
  Paid: ['Approved'],
};
const needsReason = (from: LeadStatus, to: LeadStatus) => to === 'Trashed' || from === 'Paid';
const reasonRequired = { success: false, error: 'validation', message: 'This change needs a reason' };
const conflict = {
  success: false,
  error: 'validation',
  message: 'The lead was changed by a concurrent request',
};

/** Inserts leads of a status without a history, and returns their ids. */
async function leadsOf(status: LeadStatus, count = 1, member: TestMember = owner): Promise<string[]> {
  const leads = Array.from({ length: count }, () => workspace.lead(member, { status }));
  await fixture.leads.insert(leads);
  return leads.map(({ id }) => id);
}
const leadOf = async (status: LeadStatus) => (await leadsOf(status))[0] ?? '';

async function stored(ids: readonly string[]) {
  const rows = await fixture.sql<{ id: string; status: LeadStatus; version: number; changes: number }>(
    `SELECT id, status, version, (SELECT count(*)::int FROM lead_change WHERE lead_id = lead.id) AS changes
     FROM lead WHERE id = ANY($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

/** The 2 ways to change a status, which have the same outcome. */
const ways = {
  'an edit': async (member: TestMember, id: string, to: LeadStatus, reason?: string) => {
    const answer = await api.edit(member, id, { status: to, reason });
    return [answer.status, answer.status === 200 ? {} : answer.json<object>()] as const;
  },
  'a bulk change': async (member: TestMember, id: string, to: LeadStatus, reason?: string) => {
    const answer = await api.changeStatuses(member, [id], to, reason);
    if (answer.status !== 200) return [answer.status, answer.json<object>()] as const;
    const [result] = answer.json<{ results: Outcome[] }>().results;
    if (result?.success === true) return [200, {}] as const;
    const { error, message = '' } = result ?? {};
    const status = /cannot go/.test(message) ? 409 : error === 'unauthorized' ? 403 : 400;
    return [status, { success: false, error, message }] as const;
  },
} as const;

type Change = (typeof ways)[keyof typeof ways];

async function expectRefused(change: Change, id: string, from: LeadStatus, to: LeadStatus) {
  const message = `A lead cannot go from ${from} to ${to}`;
  for (const reason of [undefined, 'Because']) {
    for (const member of [owner, manager]) {
      expect(await change(member, id, to, reason)).toEqual([
        409,
        { success: false, error: 'validation', message },
      ]);
    }
  }
  expect(await stored([id])).toEqual(new Map([[id, { status: from, version: 1, changes: 0 }]]));
}

async function expectDone(change: Change, id: string, from: LeadStatus, to: LeadStatus) {
  const reason = needsReason(from, to) ? 'Because' : undefined;
  const withoutReason = reason === undefined ? [400, reasonRequired] : await change(owner, id, to);
  expect(withoutReason).toEqual([400, reasonRequired]);
  const message = 'Only an owner may take a lead from Paid to Approved';
  const ownersOnly = [403, { success: false, error: 'unauthorized', message }];
  expect(from === 'Paid' ? await change(manager, id, to, reason) : ownersOnly).toEqual(ownersOnly);
  expect(await stored([id])).toEqual(new Map([[id, { status: from, version: 1, changes: 0 }]]));
  const member = from === 'Paid' ? owner : manager;
  expect(await change(member, id, to, reason)).toEqual([200, {}]);
  expect(await stored([id])).toEqual(new Map([[id, { status: to, version: 2, changes: 1 }]]));
  const [, entry] = await api.history(owner, id);
  expect(entry).toEqual({
    version: 2,
    type: 'status_changed',
    createdAt: (await api.get(owner, id)).updatedAt,
    userId: member.userId,
    from,
    to,
    ...(reason !== undefined && { reason }),
  });
}

describe.each(Object.entries(ways))('%s', (_way, change) => {
  for (const from of statuses) {
    for (const to of statuses) {
      if (allowedTransitions[from].includes(to)) {
        test(`from ${from} to ${to} succeeds and is recorded`, async () => {
          await expectDone(change, await leadOf(from), from, to);
        });
      } else {
        test(`from ${from} to ${to} is rejected, the message names both, and nothing changes`, async () => {
          await expectRefused(change, await leadOf(from), from, to);
        });
      }
    }
  }

  test('by a publisher is rejected with 403, even for its own lead', async () => {
    const [id = ''] = await leadsOf('OnHold', 1, publisher);
    for (const to of statuses) {
      expect(await change(publisher, id, to, 'Because')).toEqual([403, forbidden]);
    }
    expect(await stored([id])).toEqual(new Map([[id, { status: 'OnHold', version: 1, changes: 0 }]]));
  });
});

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

/** Replays the history of a lead, checks that it ends at the current lead, and returns it. */
async function replayHistory(id: string) {
  const history = await api.history(owner, id);
  const lead = await api.get(owner, id);
  let status: LeadStatus | undefined;
  for (const [i, entry] of history.entries()) {
    expect(entry.version).toBe(i + 1);
    if (entry.type !== 'status_changed') continue;
    expect(entry.from).toBe(status ?? entry.from);
    status = entry.to;
  }
  expect(history).toHaveLength(lead.version);
  expect(lead.status).toBe(status ?? lead.status);
  return history;
}

describe('concurrent changes', () => {
  test('of the status of 1 lead succeed one after another or get 409', async () => {
    const ids = await leadsOf('OnHold', 60);
    await forEachInBatches(ids, async (id) => {
      const outcomes = await Promise.all([
        apis[0].edit(owner, id, { status: 'Approved' }),
        apis[1].edit(manager, id, { status: 'Trashed', reason: 'x' }),
        apis[1].edit(owner, id, { status: 'Approved' }),
      ]);
      const wins = outcomes.filter(({ status }) => status === 200);
      // Several succeed if they run one after another, since Approved may change to Trashed.
      const { changes = 0, version } = (await stored([id])).get(id) ?? {};
      expect(wins).toHaveLength(changes);
      expect(version).toBe(changes + 1);
      for (const answer of outcomes.filter(({ status }) => status !== 200)) {
        expect(answer.status).toBe(409);
        const { message } = answer.json<{ message: string }>();
        expect(message).toMatch(/^(The lead was changed by a concurrent request|A lead cannot go from)/);
      }
      await replayHistory(id);
    });
  });

  test('to the same status on 2 instances get one 200 and one 409', async () => {
    for (let round = 0; round < 5; round++) {
      const ids = await leadsOf('OnHold', 40);
      await forEachInBatches(ids, async (id) => {
        const answers = await Promise.all(apis.map((each) => each.edit(owner, id, { status: 'Approved' })));
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
        const loser = answers.find(({ status }) => status === 409)?.json<{ message: string }>();
        expect(loser?.message).toBe('A lead cannot go from Approved to Approved');
      });
      for (const row of (await stored(ids)).values()) {
        expect(row).toEqual({ status: 'Approved', version: 2, changes: 1 });
      }
    }
  });

  test('of a status and of a field both succeed, or the status change gets 409', async () => {
    const ids = await leadsOf('OnHold', 60);
    await forEachInBatches(ids, async (id) => {
      const [status, city] = await Promise.all([
        apis[0].edit(owner, id, { status: 'Approved' }),
        apis[1].edit(manager, id, { city: 'Paris' }),
      ]);
      expect(city.status).toBe(200);
      const refusal = status.status === 200 ? conflict : status.json();
      expect([status.status === 200 || status.status === 409, refusal]).toEqual([true, conflict]);
      expect(await api.get(owner, id)).toMatchObject({
        city: 'Paris',
        status: status.status === 200 ? 'Approved' : 'OnHold',
      });
      await replayHistory(id);
    });
  });

  test('in bulk and in opposite orders change each lead once, without a deadlock', async () => {
    const ids = await leadsOf('OnHold', 400);
    const answers = await Promise.all([
      apis[0].changeStatuses(owner, ids, 'Approved'),
      apis[1].changeStatuses(manager, ids.toReversed(), 'Approved'),
      apis[0].changeStatuses(owner, ids.slice(100), 'Approved'),
      apis[1].changeStatuses(manager, ids.slice(0, 300).toReversed(), 'Approved'),
    ]);
    const wins = answers.flatMap((answer) =>
      ok<{ results: Outcome[] }>(answer).results.filter(({ success }) => success),
    );
    expect(wins.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const row of (await stored(ids)).values()) {
      expect(row).toEqual({ status: 'Approved', version: 2, changes: 1 });
    }
  });
});

describe('bulk changes', () => {
  test('return a result for each lead in the order of the ids', async () => {
    const [onHold = '', second = ''] = await leadsOf('OnHold', 2);
    const [approved, paid, trashed] = [
      await leadOf('Approved'),
      await leadOf('Paid'),
      await leadOf('Trashed'),
    ];
    const theirs = other.lead(other.owner);
    await fixture.leads.insert([theirs]);
    const unknown = unknownId();
    const ids = [paid, onHold, unknown, trashed, theirs.id, 'x', approved, '', second, onHold.toUpperCase()];
    const refused = (id: string, message: string, error = 'validation') => ({
      id,
      success: false,
      error,
      message,
    });
    expect(ok(await api.changeStatuses(manager, ids, 'Approved'))).toEqual({
      success: true,
      changed: 2,
      refused: 8,
      results: [
        refused(paid, 'Only an owner may take a lead from Paid to Approved', 'unauthorized'),
        { id: onHold, success: true, status: 'Approved', version: 2 },
        refused(unknown, 'Not found', 'error'),
        refused(trashed, 'A lead cannot go from Trashed to Approved'),
        refused(theirs.id, 'Not found', 'error'),
        refused('x', 'Not found', 'error'),
        refused(approved, 'A lead cannot go from Approved to Approved'),
        refused('', 'Not found', 'error'),
        { id: second, success: true, status: 'Approved', version: 2 },
        refused(onHold.toUpperCase(), 'Not found', 'error'),
      ],
    });
    expect((await stored([theirs.id])).get(theirs.id)).toEqual({ status: 'OnHold', version: 1, changes: 0 });
    expect(ok(await api.changeStatuses(owner, [paid, onHold], 'Approved', 'Bounced'))).toMatchObject({
      changed: 1,
      refused: 1,
    });
    expect((await api.history(owner, paid)).at(-1)).toMatchObject({
      reason: 'Bounced',
      userId: owner.userId,
    });
  });

  test('with `from` change only the leads that still have that status', async () => {
    const [onHold = ''] = await leadsOf('OnHold', 1);
    const approved = await leadOf('Approved');
    const body = { ids: [onHold, approved], status: 'Trashed', from: 'OnHold', reason: 'Wrong number' };
    const answer = await api.send(manager, 'POST', '/status', { body });
    expect(ok<{ results: object[] }>(answer).results).toEqual([
      { id: onHold, success: true, status: 'Trashed', version: 2 },
      {
        id: approved,
        success: false,
        error: 'validation',
        message: 'The lead was changed meanwhile: it is Approved now, not OnHold',
      },
    ]);
    expect((await stored([approved])).get(approved)).toMatchObject({ status: 'Approved' });
  });

  test('accept 1 to 1,000 different ids', async () => {
    const ids = await leadsOf('OnHold', 1000);
    for (const body of [
      { ids: [], status: 'Approved' },
      { ids: [...ids, unknownId()], status: 'Approved' },
      { ids: [ids[0], ids[1], ids[0]], status: 'Approved' },
      { ids: ids[0], status: 'Approved' },
      { ids: [1], status: 'Approved' },
      { ids: [null], status: 'Approved' },
      { ids: [ids[0]] },
      { status: 'Approved' },
      { ids: [ids[0]], status: 'approved' },
      { ids: [ids[0]], status: ['Approved'] },
      { ids: [ids[0]], status: 'Approved', reason: '' },
      { ids: [ids[0]], status: 'Approved', reason: 'x'.repeat(1001) },
      { ids: [ids[0]], status: 'Approved', note: 'x' },
      { ids: ['a\0'], status: 'Approved' },
      [],
    ]) {
      const answer = await api.send(owner, 'POST', '/status', { body });
      expect([answer.status, answer.json()]).toEqual([400, invalidInput]);
    }
    expect(new Set([...(await stored(ids)).values()].map(({ version }) => version))).toEqual(new Set([1]));
    const reason = '👍'.repeat(1000);
    const { changed, results } = ok<{ changed: number; results: Outcome[] }>(
      await api.changeStatuses(owner, ids, 'Trashed', reason),
    );
    expect(changed).toBe(1000);
    expect(results.map(({ id }) => id)).toEqual(ids);
    const rows = await fixture.sql(
      'SELECT DISTINCT version, from_status, to_status, reason FROM lead_change WHERE lead_id = ANY($1)',
      [ids],
    );
    expect(rows).toEqual([{ version: 2, from_status: 'OnHold', to_status: 'Trashed', reason }]);
  });

  test('leave the fields of the leads unchanged', async () => {
    const { lead } = ok<{ lead: { id: string } }>(
      await api.create(owner, { name: 'A', phone: '020 7946 0958', country: 'GB', email: 'a@b.io', a: [1] }),
    );
    const before = await api.get(owner, lead.id);
    ok(await api.changeStatuses(owner, [lead.id], 'Approved'));
    const after = await api.get(owner, lead.id);
    expect(after).toEqual({ ...before, status: 'Approved', version: 2, updatedAt: after.updatedAt });
    expect((await api.list(owner, { q: '020 7946 0958' })).leads.map(({ id }) => id)).toContain(lead.id);
  });
});

describe('the history', () => {
  test('is append-only, even for the owner of the tables', async () => {
    const id = await leadOf('OnHold');
    ok(await api.edit(owner, id, { status: 'Approved', city: 'Paris' }));
    const history = await api.history(owner, id);
    for (const statement of [
      `UPDATE lead_change SET reason = 'x' WHERE lead_id = '${id}'`,
      `UPDATE lead_change SET reason = reason`,
      `DELETE FROM lead_change WHERE lead_id = '${id}'`,
      `DELETE FROM lead_change WHERE false`,
      'TRUNCATE lead_change',
      'TRUNCATE lead CASCADE',
      `DELETE FROM lead WHERE id = '${id}'`,
      `INSERT INTO lead_change SELECT * FROM lead_change WHERE lead_id = '${id}'
         ON CONFLICT (lead_id, version) DO UPDATE SET reason = 'x'`,
      `UPDATE lead SET id = gen_random_uuid() WHERE id = '${id}'`,
    ]) {
      await expect(fixture.sql(statement), statement).rejects.toThrow(/only ever added to|foreign key/);
    }
    expect(await api.history(owner, id)).toEqual(history);
  });

  test('and the lead change together: if the entry cannot be written, the lead stays unchanged', async () => {
    const ids = await leadsOf('OnHold', 3);
    const before = await Promise.all(ids.map((id) => api.get(owner, id)));
    await fixture.sql(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.lead_id = '${ids[1]}' THEN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END IF;
         RETURN NEW; END $$`,
    );
    await fixture.sql(
      'CREATE TRIGGER refuse BEFORE INSERT ON lead_change FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    try {
      expect((await api.edit(owner, ids[1] ?? '', { city: 'Paris' })).status).toBe(500);
      expect((await api.edit(owner, ids[1] ?? '', { status: 'Approved' })).status).toBe(500);
      expect((await api.changeStatuses(owner, ids, 'Approved')).status).toBe(500);
    } finally {
      await fixture.sql('DROP TRIGGER refuse ON lead_change');
    }
    const after: LeadDetail[] = await Promise.all(ids.map((id) => api.get(owner, id)));
    expect(after).toEqual(before);
    for (const id of ids) expect(await api.history(owner, id)).toHaveLength(1);
  });
});

const problem = { Accept: 'application/problem+json' };

describe('status aliases', () => {
  const [service] = crms.services;
  const replace = (member: TestMember, aliases: unknown) =>
    service.send({
      method: 'PUT',
      path: '/api/v1/status-aliases',
      headers: { ...member.headers, Accept: 'application/problem+json' },
      body: { aliases },
    });
  const list = async (member: TestMember) =>
    ok<{ aliases: unknown }>(
      await service.send({ path: '/api/v1/status-aliases', headers: { ...member.headers } }),
    ).aliases;
  test('name a status in edits and in bulk changes, in any case, with the reason of the alias', async () => {
    const answer = await replace(manager, [
      { alias: ' Confirmed ', status: 'Approved' },
      { alias: 'FAKE  lead', status: 'Trashed', reason: 'fake' },
      { alias: 'APPROVED', status: 'Approved' },
    ]);
    const folded = [
      { alias: 'approved', status: 'Approved' },
      { alias: 'confirmed', status: 'Approved' },
      { alias: 'fake lead', status: 'Trashed', reason: 'fake' },
    ];
    expect(ok<object>(answer)).toEqual({ success: true, aliases: folded });
    expect(await list(owner)).toEqual(folded);

    const [edited = '', ...others] = await leadsOf('OnHold', 3);
    expect((await api.edit(owner, edited, { status: 'cOnFirmed' })).status).toBe(200);
    expect((await api.get(owner, edited)).status).toBe('Approved');
    expect((await api.edit(owner, edited, { status: 'fake lead', reason: 'no answer' })).status).toBe(200);
    expect((await api.history(owner, edited)).at(-1)).toMatchObject({ to: 'Trashed', reason: 'no answer' });

    const { changed, results } = ok<{ changed: number; results: Outcome[] }>(
      await api.changeStatuses(owner, others, ' Fake Lead'),
    );
    expect([changed, results[0]?.status]).toEqual([2, 'Trashed']);
    expect((await api.history(owner, others[1] ?? '')).at(-1)).toMatchObject({
      to: 'Trashed',
      reason: 'fake',
    });
  });

  test('that are unknown are 400, and the error names the known ones', async () => {
    const reason =
      'must be OnHold, Trashed, Paid, Approved, or one of the aliases approved, confirmed, fake lead';
    const expected = { status: 400, errors: [{ pointer: '#/status', detail: reason }] };
    const [id = ''] = await leadsOf('OnHold');
    const edit = await api.edit(owner, id, { status: 'gone' }, problem);
    expect(edit.json<object>()).toMatchObject(expected);
    const bulk = await api.send(owner, 'POST', '/status', {
      body: { ids: [id], status: 'gone' },
      headers: problem,
    });
    expect(bulk.json<object>()).toMatchObject(expected);
    expect((await api.get(owner, id)).status).toBe('OnHold');
  });

  test('of a workspace are unknown to other workspaces and to publishers', async () => {
    const without = { errors: [{ detail: 'must be OnHold, Trashed, Paid, Approved' }] };
    const [own = ''] = await leadsOf('OnHold', 1, publisher);
    const edit = await api.edit(publisher, own, { status: 'confirmed' }, problem);
    expect(edit.json<object>()).toMatchObject({ status: 400, ...without });
    const foreign = await api.edit(other.owner, own, { status: 'confirmed' }, problem);
    expect(foreign.json<object>()).toMatchObject({ status: 400, ...without });
    expect(await list(other.owner)).toEqual([]);
    expect(ok<object>(await replace(other.owner, []))).toEqual({ success: true, aliases: [] });
    expect(await list(owner)).toHaveLength(3);
  });

  test('that occur twice, name another status or have no visible character are 400, and change nothing; valid ones replace all', async () => {
    const before = await list(owner);
    const refusals = [
      [
        [
          { alias: 'a', status: 'Paid' },
          { alias: ' A', status: 'OnHold' },
        ],
        '#/aliases/1/alias',
        'occurs twice',
      ],
      [[{ alias: 'paid', status: 'Trashed' }], '#/aliases/0/alias', 'is the name of the status Paid'],
      [[{ alias: ' ', status: 'Paid' }], '#/aliases/0/alias', 'must contain a character other than a space'],
      [[{ alias: 'a\n', status: 'Paid' }], '#/aliases/0/alias', 'no control characters'],
      [[{ alias: 'a', status: 'Gone' }], '#/aliases/0/status', 'must be'],
      [
        Array.from({ length: 201 }, (_, i) => ({ alias: `a${i}`, status: 'Paid' })),
        '#/aliases',
        'at most 200',
      ],
    ] as const;
    for (const [aliases, pointer, detail] of refusals) {
      const answer = (await replace(owner, aliases)).json<{ status: number; errors?: object[] }>();
      expect(answer).toMatchObject({
        status: 400,
        errors: [{ pointer, detail: expect.stringContaining(detail) as string }],
      });
    }
    expect(await list(owner)).toEqual(before);
    ok(await replace(owner, [{ alias: 'sold', status: 'Paid' }]));
    expect(await list(owner)).toEqual([{ alias: 'sold', status: 'Paid' }]);
  });
});

describe('an import of statuses', () => {
  const [service] = crms.services;
  interface Report {
    readonly changed: number;
    readonly unchanged: number;
    readonly repeated: number;
    readonly rejected: number;
    readonly ignoredColumns: string[];
    readonly rejections: { line: number; field?: string; reason: string }[];
  }
  const send = (member: TestMember, lines: readonly string[], key?: string) =>
    service.send({
      method: 'POST',
      path: '/api/v1/order/leads/status/import',
      headers: {
        ...member.headers,
        ...problem,
        'Content-Type': 'text/csv',
        ...(key !== undefined && { 'Idempotency-Key': key }),
      },
      body: lines.join('\r\n'),
    });
  const importLines = async (member: TestMember, lines: readonly string[], key?: string) =>
    ok<Report>(await send(member, lines, key));
  const counts = ({ changed, unchanged, repeated, rejected }: Report) => [
    changed,
    unchanged,
    repeated,
    rejected,
  ];

  test('changes leads by id, or by sub-id, phone and campaign, and reports each line', async () => {
    const each = await fixture.createWorkspace();
    const campaignId = await each.addCampaign('SPRING');
    const [byId, byS1, byPhone, twin, other1] = [
      each.lead(each.owner),
      each.lead(each.owner, { s1: 'click-1' }),
      each.lead(each.owner, { phone: '+1 202 555 0199', phoneE164: '+12025550199' }),
      each.lead(each.owner, { s1: 'click-2' }),
      each.lead(each.owner, { s1: 'click-2', campaignId }),
    ];
    await fixture.leads.insert([byId, byS1, byPhone, twin, other1]);
    const [theirs = ''] = await leadsOf('OnHold');
    const report = await importLines(each.owner, [
      'Id,S1,Phone,Campaign Code,Status,Reason,Operator',
      `${byId.id.toUpperCase()},,,,Approved,,ann`,
      `${byId.id},,,,Paid,,ann`,
      ',click-1,,,Trashed,no answer,ann',
      ',,(202) 555-0199,,approved,,ann',
      ',,+12025550199,,Approved,,ann',
      ',click-2,,SPRING,Approved,,bob',
      ',click-2,,,Approved,,bob',
      ',click-9,,,Approved,,bob',
      `${theirs},,,,Approved,,bob`,
      ',,,,Approved,,bob',
      `${twin.id},,,,Paid,,bob`,
      `${twin.id},,,,Trashed,,bob`,
      `${byPhone.id},,,,Approved,,`,
      ',,none,,Approved,,',
      'too,short',
      ',,,SPRING,Approved,,bob',
    ]);
    expect(report.rejections).toEqual([
      { line: 5, field: 'status', reason: 'status must be OnHold, Trashed, Paid, Approved' },
      {
        line: 8,
        reason: 'Several leads have these values: add the id, or more of s1, phone and campaignCode',
      },
      { line: 9, reason: 'No lead has these values' },
      { line: 10, field: 'id', reason: 'No lead has this id' },
      { line: 11, reason: 'The line has no id, no s1 and no phone' },
      { line: 12, field: 'status', reason: 'A lead cannot go from OnHold to Paid' },
      { line: 13, field: 'reason', reason: 'This change needs a reason' },
      { line: 15, reason: 'phone must contain a digit' },
      { line: 16, reason: 'The line has 2 cells, but the header has 7' },
      { line: 17, reason: 'The line has no id, no s1 and no phone' },
    ]);
    expect(counts(report)).toEqual([5, 1, 0, 10]);
    expect(report.ignoredColumns).toEqual(['Operator']);
    const leads = await stored([byId, byS1, byPhone, twin, other1].map(({ id }) => id));
    expect([byId, byS1, byPhone, twin, other1].map(({ id }) => leads.get(id)?.status)).toEqual([
      'Paid',
      'Trashed',
      'Approved',
      'OnHold',
      'Approved',
    ]);
    expect((await api.history(each.owner, byS1.id)).at(-1)).toMatchObject({
      to: 'Trashed',
      reason: 'no answer',
      userId: each.owner.userId,
    });
    expect((await stored([theirs])).get(theirs)?.status).toBe('OnHold');
  });

  test('uses the aliases of the workspace and their reasons', async () => {
    const each = await fixture.createWorkspace();
    const lead = each.lead(each.owner, { s1: 'a' });
    await fixture.leads.insert([lead]);
    const aliases = [{ alias: 'fake', status: 'Trashed', reason: 'not a person' }];
    await service.send({
      method: 'PUT',
      path: '/api/v1/status-aliases',
      headers: { ...each.owner.headers },
      body: { aliases },
    });
    const report = await importLines(each.owner, ['s1,status', 'a,FAKE', 'a,sold']);
    expect(counts(report)).toEqual([1, 0, 0, 1]);
    expect(report.rejections[0]?.reason).toMatch(/or one of the aliases fake$/);
    expect((await api.history(each.owner, lead.id)).at(-1)).toMatchObject({ reason: 'not a person' });
  });

  test('with an Idempotency-Key changes each lead once, also if the lead was changed back meanwhile', async () => {
    const ids = await leadsOf('OnHold', 1_200);
    const lines = ['id,status', ...ids.map((id) => `${id},Approved`)];
    // The first run ends after some batches.
    expect(counts(await importLines(manager, lines.slice(0, 601), 'file-1'))).toEqual([600, 0, 0, 0]);
    expect((await api.edit(owner, ids[0] ?? '', { status: 'OnHold' })).status).toBe(200);
    const runs = await Promise.all([
      importLines(manager, lines, 'file-1'),
      importLines(manager, lines, 'file-1'),
    ]);
    const leads = await stored(ids);
    expect([...leads.values()].filter(({ changes }) => changes !== 1)).toHaveLength(1);
    expect(leads.get(ids[0] ?? '')).toMatchObject({ status: 'OnHold', changes: 2 });
    expect(runs.reduce((sum, { changed }) => sum + changed, 0)).toBe(600);
    expect(counts(await importLines(manager, lines, 'file-1'))).toEqual([0, 0, 1_200, 0]);

    const other1 = await importLines(manager, ['id,status,reason', `${ids[0]},Trashed,x`], 'file-1');
    expect(other1.rejections).toEqual([
      { line: 2, reason: 'The Idempotency-Key was already used with different content in this line' },
    ]);
    // Another user and no key are other imports.
    expect(counts(await importLines(owner, lines.slice(0, 2), 'file-1'))).toEqual([1, 0, 0, 0]);
    expect(counts(await importLines(manager, lines.slice(0, 2)))).toEqual([0, 1, 0, 0]);
  });

  test('stores the changes of long lines in batches of 1 MiB, also if the long cells are of a skipped column', async () => {
    const ids = await leadsOf('OnHold', 40);
    const notes = 'x'.repeat(60_000);
    const report = await importLines(owner, [
      'id,status,notes',
      ...ids.map((id) => `${id},Approved,${notes}`),
    ]);
    expect(counts(report)).toEqual([40, 0, 0, 0]);
    const batches = await fixture.sql<{ changes: number }>(
      `SELECT count(*)::int AS changes FROM lead_change WHERE lead_id = ANY($1)
       GROUP BY xmin ORDER BY changes DESC`,
      [ids],
    );
    expect(batches.map(({ changes }) => changes)).toEqual([18, 18, 4]);
  });

  test('with an invalid header, a compressed body or another media type is refused', async () => {
    for (const [file, detail] of [
      [[''], 'The file is empty'],
      [['id'], 'The header has no column status'],
      [['status,campaignCode'], 'The header has none of the columns id, s1 and phone'],
      [['id,ID,status'], 'The header has id twice'],
      [['"id,status'], 'The header has a quote that is never closed'],
    ] as const) {
      expect((await send(owner, file)).json<object>()).toMatchObject({ status: 400, detail });
    }
    const answer = await service.send({
      method: 'POST',
      path: '/api/v1/order/leads/status/import',
      headers: { ...owner.headers, 'Content-Type': 'text/csv', 'Content-Encoding': 'gzip' },
      body: 'id,status',
    });
    expect(answer.status).toBe(415);
  });
});

describe('a job', () => {
  interface Job {
    readonly id: string;
    readonly state: string;
    readonly total?: number;
    readonly changed: number;
    readonly refused: number;
  }
  const send = (
    member: TestMember,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    crms.services[0].send({
      method,
      path: `/api/v1/jobs${path}`,
      headers: { ...member.headers, ...headers },
      ...(body !== undefined && { body }),
    });
  const approve = (filters: object) => ({ action: 'status', status: 'Approved', filters });
  const none = approve({ s1: 'x', status: 'OnHold' });

  test('changes the status of all leads that match, reports its progress, and starts once for a repeated request', async () => {
    const team = await fixture.createWorkspace();
    const seller = await team.addMember('publisher');
    const leads = Array.from({ length: 260 }, (_, i) =>
      team.lead(i % 2 === 0 ? seller : team.owner, {
        status: i % 13 === 0 ? 'Paid' : 'OnHold',
        createdAt: new Date(Date.now() - 60_000 - i),
      }),
    );
    await fixture.leads.insert(leads);
    const body = approve({ user: seller.userId });
    const key = { 'idempotency-key': 'approve all' };
    // A change out of Paid needs a reason, and a manager cannot make it.
    const colleague = await team.addMember('manager');
    expect((await send(team.owner, 'POST', '', body, key)).json()).toEqual(reasonRequired);
    const given = { ...body, reason: 'checked' };
    const { job } = ok<{ job: Job }>(await send(colleague, 'POST', '', given, key));
    expect(ok<{ job: Job }>(await send(colleague, 'POST', '', given, key)).job.id).toBe(job.id);
    const reused = await send(colleague, 'POST', '', { ...given, reason: 'other' }, key);
    expect([reused.status, reused.json<{ error: string }>().error]).toEqual([422, 'validation']);
    const progress = async () => ok<{ job: Job }>(await send(team.owner, 'GET', `/${job.id}`)).job;
    await expect.poll(async () => (await progress()).state).toBe('done');
    expect(await progress()).toMatchObject({ total: 130, changed: 120, refused: 10 });
    const changes = await stored(leads.map(({ id }) => id));
    for (const [i, lead] of leads.entries()) {
      const isChanged = i % 2 === 0 && i % 13 !== 0;
      expect(changes.get(lead.id)).toMatchObject(
        isChanged ? { status: 'Approved', changes: 1 } : { status: lead.status, changes: 0 },
      );
    }
    expect(ok<Job[]>(await send(team.owner, 'GET', '')).map(({ id }) => id)).toEqual([job.id]);
    const [entry] = (await api.history(team.owner, leads[2]?.id ?? '')).slice(-1);
    expect(entry).toMatchObject({ userId: colleague.userId, to: 'Approved', reason: 'checked' });
    // A finished job stays as it is.
    expect(ok<{ job: Job }>(await send(team.owner, 'DELETE', `/${job.id}`)).job.state).toBe('done');
  });

  test('sets and removes the assignee of all leads that match, and fails if the assignee may not have leads any more', async () => {
    const team = await fixture.createWorkspace();
    const [colleague, leaving] = [await team.addMember('manager'), await team.addMember('manager')];
    const old = { createdAt: new Date(Date.now() - 60_000) };
    const [open, paid] = [team.lead(team.owner, old), team.lead(team.owner, { ...old, status: 'Paid' })];
    await fixture.leads.insert([open, paid]);
    const run = async (body: object, before?: () => Promise<unknown>) => {
      const given = { action: 'assign', filters: { status: 'OnHold' }, ...body };
      const { id } = ok<{ job: Job }>(await send(colleague, 'POST', '', given)).job;
      await before?.();
      const read = async () => ok<{ job: Job }>(await send(team.owner, 'GET', `/${id}`)).job;
      await expect.poll(async () => (await read()).state).not.toBe('running');
      return read();
    };
    const assignees = () =>
      fixture.sql('SELECT assignee_id AS "of", version FROM lead WHERE id = ANY($1) ORDER BY status', [
        [open.id, paid.id],
      ]);
    const assigneeId = colleague.userId;
    expect(await run({ assigneeId })).toMatchObject({
      action: 'assign',
      assigneeId,
      state: 'done',
      total: 1,
      changed: 1,
    });
    expect(await assignees()).toEqual([
      { of: assigneeId, version: 2 },
      { of: null, version: 1 },
    ]);
    const [entry] = (await api.history(team.owner, open.id)).slice(-1);
    expect(entry).toMatchObject({ userId: colleague.userId, fields: { assigneeId: { to: assigneeId } } });
    expect(await run({ assigneeId: '' })).toMatchObject({ state: 'done', changed: 1 });
    expect(await assignees()).toEqual([
      { of: null, version: 3 },
      { of: null, version: 1 },
    ]);

    // The job waits for one that no instance runs, until the new assignee has become a publisher.
    const waiting = crypto.randomUUID();
    await fixture.sql(
      `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, next_step_at)
       VALUES ($1, $2, $3, 'status', '{}', 'Approved', now() + interval '1 day')`,
      [waiting, team.id, team.owner.userId],
    );
    const failed = await run({ assigneeId: leaving.userId }, async () => {
      await fixture.sql(`UPDATE member SET role = 'publisher' WHERE user_id = $1`, [leaving.userId]);
      await send(team.owner, 'DELETE', `/${waiting}`);
    });
    expect(failed).toMatchObject({ state: 'failed', changed: 0 });
    expect((await assignees())[0]).toEqual({ of: null, version: 3 });
  });

  test('assigns only the leads without an assignee if its filters are those and a search that finds a campaign', async () => {
    const team = await fixture.createWorkspace();
    const colleague = await team.addMember('manager');
    const campaignId = await team.addCampaign('Spring');
    const old = { campaignId, createdAt: new Date(Date.now() - 60_000) };
    const [open, taken] = [team.lead(team.owner, old), team.lead(team.owner, old)];
    await fixture.leads.insert([open, taken]);
    await fixture.sql('UPDATE lead SET assignee_id = $1 WHERE id = $2', [colleague.userId, taken.id]);
    const assigneeId = team.owner.userId;
    const body = { action: 'assign', assigneeId, filters: { assignee: 'none', q: 'spring' } };
    const { id } = ok<{ job: Job }>(await send(team.owner, 'POST', '', body)).job;
    const read = async () => ok<{ job: Job }>(await send(team.owner, 'GET', `/${id}`)).job;
    await expect.poll(async () => (await read()).state).toBe('done');
    expect(await read()).toMatchObject({ total: 1, changed: 1, refused: 0 });
    const assigned = await fixture.sql('SELECT id, assignee_id AS "of" FROM lead WHERE workspace_id = $1', [
      team.id,
    ]);
    expect(assigned).toHaveLength(2);
    expect(assigned).toEqual(
      expect.arrayContaining([
        { id: open.id, of: assigneeId },
        { id: taken.id, of: colleague.userId },
      ]),
    );
  });

  test('is cancelled, limited to 10 of a workspace, and hidden from publishers and other workspaces', async () => {
    const team = await fixture.createWorkspace();
    const seller = await team.addMember('publisher');
    // No instance runs these jobs, because their next step is far away.
    const ids = Array.from({ length: 10 }, () => crypto.randomUUID());
    await fixture.sql(
      `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, next_step_at)
       SELECT id, $1, $2, 'status', '{}', 'Approved', now() + interval '1 day' FROM unnest($3::uuid[]) AS id`,
      [team.id, team.owner.userId, ids],
    );
    const [id = ''] = ids;
    const full = await send(team.owner, 'POST', '', none);
    expect([full.status, full.json<{ error: string }>().error]).toEqual([409, 'validation']);
    for (const method of ['GET', 'DELETE']) {
      expect((await send(seller, method, `/${id}`)).json()).toEqual(forbidden);
      expect((await send(other.owner, method, `/${id}`)).status).toBe(404);
    }
    expect((await send(seller, 'POST', '', approve({}))).json()).toEqual(forbidden);
    expect(ok<{ job: Job }>(await send(team.owner, 'DELETE', `/${id}`)).job.state).toBe('cancelled');
    expect((await send(team.owner, 'POST', '', none)).status).toBe(200);
    for (const body of [
      approve({ limit: '1' }),
      approve({ status: 'Lost' }),
      approve({ phone: 'ask' }),
      { ...approve({}), action: 'delete' },
      { ...approve({}), status: 'Lost' },
      { action: 'status', status: 'Approved' },
      { action: 'status', filters: {} },
      { ...approve({}), assigneeId: team.owner.userId },
      { ...approve({}), action: 'assign', assigneeId: team.owner.userId },
      { action: 'assign', filters: {} },
      { action: 'assign', filters: {}, assigneeId: seller.userId },
      { action: 'assign', filters: {}, assigneeId: other.owner.userId },
    ]) {
      expect((await send(team.owner, 'POST', '', body)).json()).toEqual(invalidInput);
    }
  });

  test('is undone by a job that restores the previous status of leads, and a publisher, another workspace and a manager of paid leads cannot start it', async () => {
    const team = await fixture.createWorkspace();
    const [seller, colleague] = [await team.addMember('publisher'), await team.addMember('manager')];
    const createdAt = new Date(Date.now() - 60_000);
    const [one, two] = [team.lead(team.owner, { createdAt }), team.lead(team.owner, { createdAt })];
    await fixture.leads.insert([one, two]);
    const finished = async (id: string) => {
      const read = async () => ok<{ job: Job }>(await send(team.owner, 'GET', `/${id}`)).job;
      await expect.poll(async () => (await read()).state).not.toBe('running');
      return read();
    };
    const undo = (member: TestMember, id: string) => send(member, 'POST', `/${id}/undo`);
    const run = async (body: object) =>
      finished(ok<{ job: Job }>(await send(colleague, 'POST', '', body)).job.id);
    const { id } = await run(approve({ status: 'OnHold' }));

    expect((await undo(seller, id)).json()).toEqual(forbidden);
    expect((await undo(other.owner, id)).status).toBe(404);
    await api.changeStatuses(team.owner, [two.id], 'Trashed', 'spam');
    const started = ok<{ job: Job & { undoes: string } }>(await undo(colleague, id)).job;
    expect(started).toMatchObject({ action: 'status', status: 'Approved', undoes: id });
    expect(ok<{ job: Job }>(await undo(team.owner, id)).job.id).toBe(started.id);
    const message = 'The lead was changed since';
    expect(await finished(started.id)).toMatchObject({
      state: 'done',
      total: 2,
      changed: 1,
      refused: 1,
      refusals: [{ id: two.id, message }],
    });
    expect(await stored([one.id, two.id])).toEqual(
      new Map([
        [one.id, expect.objectContaining({ status: 'OnHold', changes: 2 })],
        [two.id, expect.objectContaining({ status: 'Trashed', changes: 2 })],
      ]),
    );
    expect(await finished(id)).toMatchObject({ undoneBy: started.id });
    const problemOf = async (answer: ReturnType<typeof undo>) => {
      const found = await answer;
      return [found.status, found.json<{ message: string }>().message];
    };
    expect(await problemOf(undo(team.owner, started.id))).toEqual([
      409,
      'An undo cannot be undone: start the change again',
    ]);
    expect(await problemOf(undo(team.owner, (await run(none)).id))).toEqual([
      409,
      'The job has no changes that can be undone',
    ]);

    await api.changeStatuses(team.owner, [one.id], 'Approved');
    const paid = await run({ action: 'status', status: 'Paid', filters: { status: 'Approved' } });
    expect(await problemOf(undo(colleague, paid.id))).toEqual([
      403,
      'Only an owner may take leads from Paid to Approved',
    ]);
    const returned = ok<{ job: Job }>(await undo(team.owner, paid.id)).job;
    expect(await finished(returned.id)).toMatchObject({ state: 'done', changed: 1, refused: 0 });
    expect((await api.history(team.owner, one.id)).at(-1)).toMatchObject({
      to: 'Approved',
      reason: 'Undone',
    });
  });

  test('ends the holds of its leads, and its undo does not hold them again', async () => {
    const team = await fixture.createWorkspace();
    const lead = team.lead(team.owner, { createdAt: new Date(Date.now() - 60_000) });
    await fixture.leads.insert([lead]);
    ok(await api.edit(team.owner, lead.id, { hold: true, reason: 'Proof' }));
    const finish = async (answer: ReturnType<typeof send>) => {
      const { id } = ok<{ job: Job }>(await answer).job;
      await expect
        .poll(async () => ok<{ job: Job }>(await send(team.owner, 'GET', `/${id}`)).job)
        .toMatchObject({ state: 'done', changed: 1 });
      return id;
    };
    const id = await finish(send(team.owner, 'POST', '', approve({ status: 'OnHold' })));
    expect(await api.get(team.owner, lead.id)).not.toHaveProperty('holdReason');
    await finish(send(team.owner, 'POST', `/${id}/undo`));
    const undone = await api.get(team.owner, lead.id);
    expect(undone.status).toBe('OnHold');
    expect(undone).not.toHaveProperty('holdReason');
  });

  test('of an assignment is undone to the assignee of each lead before, as is an assignment of a selection', async () => {
    const team = await fixture.createWorkspace();
    const [colleague, leaving] = [await team.addMember('manager'), await team.addMember('manager')];
    const createdAt = new Date(Date.now() - 60_000);
    const leads = [0, 1, 2].map(() => team.lead(team.owner, { createdAt }));
    const [first = '', second = '', third = ''] = leads.map(({ id }) => id);
    await fixture.leads.insert(leads);
    const assignments = (path: string, body: object, member = team.owner) =>
      crms.services[0].send({
        method: 'POST',
        path: `/api/v1/order/leads/assignment${path}`,
        headers: { ...member.headers },
        body,
      });
    const assign = async (ids: readonly string[], assigneeId: string) =>
      ok<{ changeId: string }>(await assignments('', { ids, assigneeId })).changeId;
    const assignees = async () => {
      const rows = await fixture.sql<{ id: string; of: string | null }>(
        'SELECT id, assignee_id AS "of" FROM lead WHERE id = ANY($1)',
        [[first, second, third]],
      );
      return [first, second, third].map((id) => rows.find((row) => row.id === id)?.of);
    };
    await assign([first], leaving.userId);
    await assign([second], colleague.userId);
    const body = { action: 'assign', filters: {}, assigneeId: team.owner.userId };
    const { id } = ok<{ job: Job }>(await send(colleague, 'POST', '', body)).job;
    const state = async (of: string) => ok<{ job: Job }>(await send(team.owner, 'GET', `/${of}`)).job;
    await expect.poll(async () => (await state(id)).state).toBe('done');
    expect(await assignees()).toEqual(Array(3).fill(team.owner.userId));
    await fixture.sql(`UPDATE member SET role = 'publisher' WHERE user_id = $1`, [leaving.userId]);
    const undo = ok<{ job: Job }>(await send(team.owner, 'POST', `/${id}/undo`)).job;
    await expect.poll(async () => (await state(undo.id)).state).toBe('done');
    expect(await state(undo.id)).toMatchObject({
      changed: 2,
      refused: 1,
      refusals: [{ id: first, message: 'The previous assignee is no longer owner or manager' }],
    });
    expect(await assignees()).toEqual([team.owner.userId, colleague.userId, null]);

    expect(await assign([second], colleague.userId)).toBeUndefined();
    const changeId = await assign([first, second, third], colleague.userId);
    await api.changeStatuses(team.owner, [third], 'Approved');
    expect((await assignments('/undo', { changeId }, leaving)).json()).toEqual(forbidden);
    for (const unknown of ['no-id', crypto.randomUUID()]) {
      expect((await assignments('/undo', { changeId: unknown })).status).toBe(404);
    }
    expect((await assignments('/undo', { changeId }, other.owner)).status).toBe(404);
    for (const _repeated of [1, 2]) {
      // The assignment has not changed the second lead, which had the assignee already.
      expect(ok(await assignments('/undo', { changeId }))).toMatchObject({
        changed: 1,
        refused: 1,
        results: expect.arrayContaining([
          expect.objectContaining({ id: third, message: 'The lead was changed since' }),
        ]),
      });
      expect(await assignees()).toEqual([team.owner.userId, colleague.userId, colleague.userId]);
    }
  });
});
