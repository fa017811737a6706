import { expect, test, vi } from 'vitest';
import { addTenant, databaseOptions, leadOf, type Tenant } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { openDatabase } from '../db/client.ts';
import { createLeadJobStore } from '../db/lead-job-store.prisma.ts';
import { createLeadStore } from '../db/lead-store.prisma.ts';
import { createWorkspaceStore } from '../db/workspace-store.prisma.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { assignLeads } from './assign-leads.ts';
import { changeStatuses } from './change-status.ts';
import { LeadJobRunner } from './lead-job-runner.ts';
import type { LeadJobStore } from './lead-job-store.ts';
import type { LeadStore } from './lead-store.ts';

const [testDatabase, database] = await openTestDatabase();
const jobs = createLeadJobStore(database);
const leads = createLeadStore(database);
const workspaces = createWorkspaceStore(database);

/** The store of an instance that loses the database. It keeps the lease of a job that fails. */
const lostJobs: LeadJobStore = {
  ...jobs,
  async delay() {
    throw new LeadsError('unavailable');
  },
};

const jobOf = ({ workspaceId, userId }: Tenant, fields: object = {}) => ({
  id: newId(),
  workspaceId,
  userId,
  action: 'status' as const,
  filters: { status: 'OnHold' },
  status: 'Approved' as const,
  ...fields,
});

const stateOf = async (tenant: Tenant, id: string) => (await jobs.find(tenant.workspaceId, id))?.state;

test('a job changes each lead once, also if an instance loses the answers to its changes and another one continues', async () => {
  const tenant = await addTenant(testDatabase, 'resumed');
  const neighbor = await addTenant(testDatabase, 'neighbor');
  const createdAt = new Date(Date.now() - 60_000);
  const onHold = Array.from({ length: 450 }, () => leadOf(tenant, { createdAt }));
  const others = [leadOf(tenant, { status: 'Trashed' }), leadOf(neighbor)];
  const future = new Date(Date.now() + 3_600_000);
  const late = leadOf(tenant, { createdAt: future, updatedAt: future });
  await leads.insert([...onHold, ...others, late]);
  const setStatus = (ids: readonly string[], status: string) =>
    testDatabase.query(`UPDATE lead SET status = '${status}', version = version + 1 WHERE id = ANY($1)`, [
      ids,
    ]);

  // The first instance changes its leads, and gets no answer. The second one continues when the lease ends.
  const id = newId();
  const errors: unknown[] = [];
  let broken = 0;
  const failing: LeadStore = {
    ...leads,
    async change(...change) {
      await leads.change(...change);
      broken += 1;
      throw new LeadsError('unavailable');
    },
  };
  await jobs.start(jobOf(tenant, { id }));
  await using first = new LeadJobRunner(
    { jobs: lostJobs, leads: failing, workspaces },
    {
      onError: (error) => errors.push(error),
      leaseMs: 300,
    },
  );
  await expect.poll(() => broken).toBeGreaterThan(0);
  await first[Symbol.asyncDispose]();
  expect(errors.length).toBeGreaterThan(0);
  expect(await stateOf(tenant, id)).toBe('running');

  let conflicting: string | undefined;
  const contended: LeadStore = {
    ...leads,
    async find(scope, ids) {
      // Another user changes one lead after the job has found it. It could still go from Trashed to OnHold.
      if (conflicting === undefined && scope.workspaceId === tenant.workspaceId) {
        const rows = await testDatabase.query<{ id: string }>(
          `SELECT id FROM lead WHERE id = ANY($1) AND status = 'OnHold' LIMIT 1`,
          [ids],
        );
        conflicting = rows[0]?.id;
        if (conflicting !== undefined) await setStatus([conflicting], 'Trashed');
      }
      return leads.find(scope, ids);
    },
  };
  const onError = (error: unknown) => errors.push(error);
  await using _second = new LeadJobRunner({ jobs, leads: contended, workspaces }, { onError });
  await using _third = new LeadJobRunner({ jobs, leads: contended, workspaces }, { onError });
  await expect.poll(() => stateOf(tenant, id)).toBe('done');

  const job = await jobs.find(tenant.workspaceId, id);
  expect(job).toMatchObject({ total: 450, changed: 449, refused: 1 });
  expect(job?.refusals).toEqual([
    { id: conflicting, message: 'The lead was changed by a concurrent request' },
  ]);
  const rows = await testDatabase.query<{ id: string; status: string; changes: number }>(
    `SELECT id, status::text, (SELECT count(*)::int FROM lead_change WHERE lead_id = lead.id) AS changes FROM lead`,
  );
  const byId = new Map(rows.map((row) => [row.id, [row.status, row.changes]]));
  for (const lead of onHold) {
    expect(byId.get(lead.id)).toEqual(lead.id === conflicting ? ['Trashed', 0] : ['Approved', 1]);
  }
  for (const lead of [...others, late]) expect(byId.get(lead.id)).toEqual([lead.status, 0]);
});

test('a job changes no lead again that a user changed back after an instance died and before another one continues', async () => {
  const tenant = await addTenant(testDatabase, 'reverted');
  const { workspaceId, userId } = tenant;
  const principal = { workspaceId, userId, role: 'owner', scope: 'full' } as const;
  const createdAt = new Date(Date.now() - 60_000);
  const sent = [leadOf(tenant, { createdAt }), leadOf(tenant, { createdAt })] as const;
  await leads.insert(sent);
  const ids = [sent[0].id];
  const onError = () => undefined;
  const assignment = { action: 'assign', filters: {}, status: undefined, assigneeId: userId };
  for (const { job, revert } of [
    { job: jobOf(tenant), revert: () => changeStatuses(leads, principal, { ids, status: 'OnHold' }) },
    {
      job: jobOf(tenant, assignment),
      revert: () => assignLeads({ leads, workspaces }, principal, { ids, assigneeId: '' }),
    },
  ]) {
    // The first instance changes the leads and does not store the results.
    let lost = 0;
    const failing: LeadJobStore = {
      ...lostJobs,
      async record() {
        lost += 1;
        throw new LeadsError('unavailable');
      },
    };
    await jobs.start(job);
    {
      await using _first = new LeadJobRunner({ jobs: failing, leads, workspaces }, { onError, leaseMs: 300 });
      await expect.poll(() => lost).toBeGreaterThan(0);
    }
    await revert();
    {
      await using _second = new LeadJobRunner({ jobs, leads, workspaces }, { onError });
      await expect.poll(() => stateOf(tenant, job.id)).toBe('done');
    }
    expect(await jobs.find(workspaceId, job.id)).toMatchObject({ changed: 2, refused: 0 });
    const changes = await testDatabase.query<{ count: number }>(
      `SELECT count(*)::int FROM lead_change WHERE bulk_id = $1 GROUP BY lead_id`,
      [job.id],
    );
    expect(changes).toEqual([{ count: 1 }, { count: 1 }]);
  }
  const found = await leads.find({ workspaceId }, ids);
  expect(found.map(({ status, assigneeId }) => ({ status, assigneeId }))).toEqual([
    { status: 'OnHold', assigneeId: undefined },
  ]);
});

test('the jobs of a workspace run one after the other, and a job of another workspace does not wait for them', async () => {
  const [busy, calm] = [await addTenant(testDatabase, 'busy'), await addTenant(testDatabase, 'calm')];
  const ofBusy = [await jobs.start(jobOf(busy)), await jobs.start(jobOf(busy))];
  const ofCalm = await jobs.start(jobOf(calm));
  const claimed = [await jobs.claim(60_000), await jobs.claim(60_000), await jobs.claim(60_000)];
  expect(claimed.map((job) => job?.id)).toEqual([ofBusy[0]?.id, ofCalm.id, undefined]);
  // Its own user and others cancel a job, whose instance then plans no more leads.
  await jobs.cancel(busy.workspaceId, ofBusy[0]?.id ?? '');
  const [first] = claimed;
  if (first === undefined) throw new Error('No job was claimed');
  const after = { time: new Date(), id: newId() };
  expect(await jobs.plan(first, [], after, 1)).toBe(false);
  expect((await jobs.claim(60_000))?.id).toBe(ofBusy[1]?.id);
  await testDatabase.query(`DELETE FROM lead_job`);
});

test('a job keeps no search text and no phone number after its end, and is deleted 30 days later', async () => {
  const tenant = await addTenant(testDatabase, 'private');
  const filters = { status: 'OnHold', q: 'Ada Canary', phone: '+44 20 7946 0958' };
  const ids = [newId(), newId(), newId()] as const;
  for (const id of ids) await jobs.start(jobOf(tenant, { id, filters }));
  await jobs.cancel(tenant.workspaceId, ids[0]);
  await jobs.cancel(tenant.workspaceId, ids[1]);
  await testDatabase.query(`UPDATE lead_job SET finished_at = now() - interval '31 days' WHERE id = $1`, [
    ids[1],
  ]);
  await using _runner = new LeadJobRunner({ jobs, leads, workspaces }, { onError: () => undefined });
  await expect.poll(() => stateOf(tenant, ids[2])).toBe('done');
  const kept = await jobs.list(tenant.workspaceId, 10);
  expect(kept.map(({ id }) => id)).toEqual([ids[2], ids[0]]);
  for (const job of kept) expect(job.filters).toEqual({ status: 'OnHold', q: '*', phone: '*' });
});

test('a job fails if its user may not change statuses any more', async () => {
  const tenant = await addTenant(testDatabase, 'demoted');
  const lead = leadOf(tenant, { createdAt: new Date(Date.now() - 60_000) });
  await leads.insert([lead]);
  const { id } = await jobs.start(jobOf(tenant));
  await testDatabase.query(`UPDATE member SET role = 'publisher' WHERE workspace_id = $1`, [
    tenant.workspaceId,
  ]);
  await using _runner = new LeadJobRunner({ jobs, leads, workspaces }, { onError: () => undefined });
  await expect.poll(() => stateOf(tenant, id)).toBe('failed');
  expect(await testDatabase.query('SELECT FROM lead_change WHERE lead_id = $1', [lead.id])).toEqual([]);
});

test.for(['is rejected', 'times out'] as const)(
  'a job whose statement %s waits for longer after each failure, and the jobs of other workspaces do not wait',
  async (failure) => {
    const [failing, calm] = [await addTenant(testDatabase, newId()), await addTenant(testDatabase, newId())];
    // No request can have this filter.
    const invalid = { user: 'urn:uuid:019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f' };
    await using impatient = openDatabase({ ...databaseOptions(testDatabase.url), statementTimeoutMs: 200 });
    const { filters, store } =
      failure === 'is rejected'
        ? { filters: invalid, store: leads }
        : { filters: {}, store: createLeadStore(impatient) };
    const { id } = await jobs.start(jobOf(failing, { filters }));
    const other = await jobs.start(jobOf(calm));
    // The job of a user without permission ends without a statement on the locked table.
    await testDatabase.query(`UPDATE member SET role = 'publisher' WHERE workspace_id = $1`, [
      calm.workspaceId,
    ]);
    const delays: number[] = [];
    const hasty: LeadJobStore = {
      ...jobs,
      async delay(job, delayMs) {
        delays.push(delayMs);
        await jobs.delay(job, delays.length < 3 ? 0 : 900_000);
      },
    };
    const failed: unknown[] = [];
    if (failure === 'times out') await testDatabase.query('BEGIN; LOCK TABLE lead IN ACCESS EXCLUSIVE MODE');
    try {
      const onError = (_error: unknown, jobId?: string) => failed.push(jobId);
      await using _runner = new LeadJobRunner({ jobs: hasty, leads: store, workspaces }, { onError });
      await expect.poll(() => stateOf(calm, other.id)).toBe('failed');
      await expect.poll(() => delays).toEqual([5_000, 10_000, 20_000]);
    } finally {
      await testDatabase.query('ROLLBACK');
    }
    expect(failed).toEqual([id, id, id]);
    expect(await stateOf(failing, id)).toBe('running');
    expect(await jobs.claim(60_000)).toBeUndefined();
    await jobs.cancel(failing.workspaceId, id);
  },
);

test(`the count of a job's failures expires 30 minutes after its last failure, so that no count of a cancelled job stays`, async () => {
  const tenant = await addTenant(testDatabase, 'expired');
  const filters = { user: 'urn:uuid:019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f' };
  const { id } = await jobs.start(jobOf(tenant, { filters }));
  const now = performance.now.bind(performance);
  let passedMs = 0;
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  const delays: number[] = [];
  const watched: LeadJobStore = {
    ...jobs,
    async delay(job, delayMs) {
      delays.push(delayMs);
      if (delays.length === 2) passedMs += 30 * 60_000;
      await jobs.delay(job, delays.length < 4 ? 0 : 900_000);
    },
  };
  {
    await using _runner = new LeadJobRunner(
      { jobs: watched, leads, workspaces },
      { onError: () => undefined },
    );
    await expect.poll(() => delays).toEqual([5_000, 10_000, 5_000, 10_000]);
  }
  await jobs.cancel(tenant.workspaceId, id);
});

/** The claim of the release before, which knows no undo. */
const earlierClaim = `
  SELECT id FROM lead_job AS job WHERE state = 'running' AND next_step_at <= now() AND NOT EXISTS (
    SELECT FROM lead_job AS older WHERE older.workspace_id = job.workspace_id AND older.state = 'running'
      AND (older.created_at, older.id) < (job.created_at, job.id)
  )`;

test('an undo changes back the leads whose newest change is that of the job, also if an instance dies between two changes of a lead', async () => {
  const tenant = await addTenant(testDatabase, 'undone');
  const { workspaceId, userId } = tenant;
  const principal = { workspaceId, userId, role: 'owner', scope: 'full' } as const;
  const createdAt = new Date(Date.now() - 60_000);
  // The first batch has leads that go back by two changes.
  const approved = Array.from({ length: 210 }, () => leadOf(tenant, { createdAt }));
  const onHold = Array.from({ length: 210 }, () => leadOf(tenant, { createdAt }));
  await leads.insert([...onHold, ...approved]);
  const idsOf = (some: readonly { readonly id: string }[]) => some.map(({ id }) => id);
  await changeStatuses(leads, principal, { ids: idsOf(approved), status: 'Approved', reason: 'called' });
  const onError = () => undefined;
  const ids = [newId(), newId(), newId()] as const;
  await jobs.start(jobOf(tenant, { id: ids[0], filters: {}, status: 'Trashed', reason: 'spam' }));
  {
    await using _runner = new LeadJobRunner({ jobs, leads, workspaces }, { onError });
    await expect.poll(() => stateOf(tenant, ids[0])).toBe('done');
  }
  const [changed, paid] = [onHold[0]?.id ?? '', approved[0]?.id ?? ''];
  await changeStatuses(leads, principal, { ids: [changed], status: 'OnHold' });
  await testDatabase.query(
    `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, state)
     VALUES ($1, $2, 1, $3, $3, '2026-01-01', '2026-02-01', 'EUR', '2026-02-01', 'paying')`,
    [ids[2], workspaceId, userId],
  );
  await testDatabase.query(
    `INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount) VALUES ($1, $2, $3, 1)`,
    [ids[2], paid, workspaceId],
  );

  const started = await jobs.startUndo({ id: ids[1], workspaceId, userId, undoes: ids[0] });
  expect(started).toMatchObject({ state: 'running', undoes: ids[0], status: 'Trashed' });
  expect((await jobs.startUndo({ id: newId(), workspaceId, userId, undoes: ids[0] })).id).toBe(ids[1]);
  expect(await testDatabase.query(earlierClaim)).toEqual([]);
  let stored = 0;
  const failing: LeadStore = {
    ...leads,
    async change(...change) {
      if (stored > 0) throw new LeadsError('unavailable');
      stored += 1;
      return leads.change(...change);
    },
  };
  {
    await using _first = new LeadJobRunner(
      { jobs: lostJobs, leads: failing, workspaces },
      { onError, leaseMs: 300 },
    );
    await expect.poll(() => stored).toBe(1);
  }
  await using _second = new LeadJobRunner({ jobs, leads, workspaces }, { onError });
  await using _third = new LeadJobRunner({ jobs, leads, workspaces }, { onError });
  await expect.poll(() => stateOf(tenant, ids[1])).toBe('done');

  const undo = await jobs.find(workspaceId, ids[1]);
  expect(undo).toMatchObject({ total: 420, changed: 418, refused: 2 });
  expect(new Map(undo?.refusals.map(({ id, message }) => [id, message]))).toEqual(
    new Map([
      [changed, 'The lead was changed since'],
      [paid, 'The lead is in a payment'],
    ]),
  );
  expect((await jobs.find(workspaceId, ids[0]))?.undoneBy).toBe(ids[1]);
  const rows = await testDatabase.query<{ id: string; status: string; history: (string | null)[] }>(
    `SELECT id, status::text, (
       SELECT array_agg(to_status || ' ' || coalesce(reason, '') ORDER BY version) FROM lead_change WHERE lead_id = lead.id
     ) AS history FROM lead WHERE workspace_id = $1`,
    [workspaceId],
  );
  const histories = new Map(rows.map(({ id, history }) => [id, history]));
  const back = ['Trashed spam', 'OnHold Undone'];
  for (const { id } of onHold) {
    expect(histories.get(id)).toEqual(id === changed ? ['Trashed spam', 'OnHold '] : back);
  }
  for (const { id } of approved) {
    expect(histories.get(id)).toEqual(
      id === paid ? ['Approved called', 'Trashed spam'] : ['Approved called', ...back, 'Approved called'],
    );
  }
});
