import { randomUUID } from 'node:crypto';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, test } from 'vitest';
import { forbidden, invalidInput, ok, startTwoCrms } from './leads-api.ts';
import { createStatusTeam, reasonRequired } from './status-team.ts';

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture } = crms;
const [api] = apis;
const { other, stored } = await createStatusTeam(fixture);

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

  test('of a member who leaves the workspace stays in the list and can be undone, and fails if it has not ended', async () => {
    const team = await fixture.createWorkspace();
    const leaver = await team.addMember('manager');
    const lead = team.lead(team.owner, { createdAt: new Date(Date.now() - 60_000) });
    await fixture.leads.insert([lead]);
    const read = async (id: string) => ok<{ job: Job }>(await send(team.owner, 'GET', `/${id}`)).job;
    const body = { action: 'status', status: 'Trashed', reason: 'revenge', filters: { status: 'OnHold' } };
    const { id } = ok<{ job: Job }>(await send(leaver, 'POST', '', body)).job;
    await expect.poll(async () => (await read(id)).state).toBe('done');
    // A job with a later step, which no instance works on.
    const start = async (userId: string, delay: string) => {
      const values = [randomUUID(), team.id, userId, { q: 'Ada' }, delay];
      const [row] = await fixture.sql<{ id: string }>(
        `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, next_step_at)
         VALUES ($1, $2, $3, 'status', $4, 'Approved', now() + $5::interval) RETURNING id`,
        values,
      );
      return row?.id ?? '';
    };
    const waiting = await start(leaver.userId, '1 hour');

    await fixture.sql('DELETE FROM member WHERE user_id = $1', [leaver.userId]);
    const jobs = ok<Job[]>(await send(team.owner, 'GET', ''));
    expect(jobs.map((job) => [job.id, job.state])).toEqual([
      [waiting, 'failed'],
      [id, 'done'],
    ]);
    expect(jobs[0]).toMatchObject({ filters: { q: '*' } });
    // A request that started a job while its member was removed.
    const late = await start(leaver.userId, '0');
    await expect.poll(async () => (await read(late)).state).toBe('failed');
    const undo = ok<{ job: Job }>(await send(team.owner, 'POST', `/${id}/undo`)).job;
    await expect.poll(async () => (await read(undo.id)).state).toBe('done');
    expect((await stored([lead.id])).get(lead.id)).toMatchObject({ status: 'OnHold', changes: 2 });
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
