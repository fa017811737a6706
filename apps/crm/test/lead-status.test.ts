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
import { createStatusTeam, reasonRequired } from './status-team.ts';

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture } = crms;
const [api] = apis;
const { owner, manager, publisher, other, leadsOf, leadOf, stored } = await createStatusTeam(fixture);

const statuses: readonly LeadStatus[] = ['OnHold', 'Trashed', 'Paid', 'Approved'];
/** The allowed transitions. */
const allowedTransitions: Readonly<Record<LeadStatus, readonly LeadStatus[]>> = {
  OnHold: ['Approved', 'Trashed'],
  Approved: ['Paid', 'OnHold', 'Trashed'],
  Trashed: ['OnHold'],
  Paid: ['Approved'],
};
const needsReason = (from: LeadStatus, to: LeadStatus) => to === 'Trashed' || from === 'Paid';
const conflict = {
  success: false,
  error: 'validation',
  message: 'The lead was changed by a concurrent request',
};

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
        refused(onHold.toUpperCase(), 'The id is given twice'),
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
