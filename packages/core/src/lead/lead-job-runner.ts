import { LRUCache } from 'lru-cache';
import { BackgroundLoop } from '../background/background-loop.ts';
import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { assignLeads } from './assign-leads.ts';
import type { ChangeResult } from './change-each.ts';
import { changeStatuses } from './change-status.ts';
import { detailFields } from './lead.schema.ts';
import type { ClaimedJob, JobProgress, LeadJobStore, PlannedLead } from './lead-job-store.ts';
import type { LeadStatus } from './lead-status.ts';
import type { LeadSelection, LeadStore } from './lead-store.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import { selectLeads } from './list-leads.ts';
import { undoChanges } from './undo-changes.ts';

/** The leads of one transaction. A larger transaction would delay the changes of single leads. */
const batchSize = 200;
const idleMs = 2_000;
/** The longest pause after a batch. A job pauses for as long as its batch took, so that it takes half of a connection. */
const maxPauseMs = 500;
const expiryIntervalMs = 3_600_000;
const retryMs = { min: 500, max: 30_000 };
/** The delays of a job after failures of its batch. They double from `min` to `max`. */
const delayMs = { min: 5_000, max: 900_000 };
const maxFailingJobs = 10_000;
/** A batch takes some seconds at most, also while the database is slow. */
const leaseMs = 60_000;

const [idAt, statusAt, createdAt] = (['id', 'status', 'createdAt'] as const).map((field) =>
  detailFields.indexOf(field),
) as [number, number, number];

/**
 * Runs the jobs of all workspaces until it is disposed. Any number of processes may run one. A job continues after a
 * restart or a crash: it stores the leads of a batch before it changes them, and their results afterwards.
 */
export class LeadJobRunner implements AsyncDisposable {
  readonly #jobs: LeadJobStore;
  readonly #leads: LeadStore;
  readonly #workspaces: Pick<WorkspaceStore, 'hasManager'>;
  readonly #leaseMs: number;
  readonly #onError: (error: unknown, jobId?: string) => void;
  readonly #loop: BackgroundLoop;
  /**
   * The failures of jobs since their last batch that succeeded. A job that still runs fails again before its count
   * expires. So only the count of a job expires that was cancelled, or that another instance has ended.
   */
  readonly #failures = new LRUCache<string, number>({
    max: maxFailingJobs,
    ttl: 2 * delayMs.max,
    ttlAutopurge: true,
  });
  #nextExpiryMs = 0;

  /**
   * @param options.onError called for each failure of a job with its id, and once when the database becomes unavailable.
   * @param options.leaseMs how long no other instance claims the job of an instance that died.
   */
  constructor(
    {
      jobs,
      leads,
      workspaces,
    }: { jobs: LeadJobStore; leads: LeadStore; workspaces: Pick<WorkspaceStore, 'hasManager'> },
    options: { onError: (error: unknown, jobId?: string) => void; leaseMs?: number },
  ) {
    this.#jobs = jobs;
    this.#leads = leads;
    this.#workspaces = workspaces;
    this.#leaseMs = options.leaseMs ?? leaseMs;
    this.#onError = options.onError;
    this.#loop = new BackgroundLoop({
      step: () => this.#step(),
      onError: (error) => options.onError(error),
      retryMs,
    });
  }

  /** Starts a new job without a pause. */
  wake(): void {
    this.#loop.wake();
  }

  async #step(): Promise<number> {
    const startedMs = performance.now();
    if (startedMs >= this.#nextExpiryMs) {
      await this.#jobs.deleteExpired();
      this.#nextExpiryMs = startedMs + expiryIntervalMs;
    }
    const job = await this.#jobs.claim(this.#leaseMs);
    if (job === undefined) return idleMs;
    try {
      await this.#runBatch(job);
      this.#failures.delete(job.id);
    } catch (error) {
      // A statement that always times out counts as an outage, too. So only the delay shows whether Postgres is available:
      // without it, no delay is stored, and the loop waits.
      this.#onError(error, job.id);
      await this.#delay(job);
    }
    return Math.min(maxPauseMs, performance.now() - startedMs);
  }

  /** Delays only the job that failed. A pause of the loop would delay the jobs of all workspaces. */
  async #delay(job: ClaimedJob): Promise<void> {
    const failures = this.#failures.get(job.id) ?? 0;
    this.#failures.set(job.id, failures + 1);
    await this.#jobs.delay(job, Math.min(delayMs.min * 2 ** failures, delayMs.max));
  }

  async #runBatch(job: ClaimedJob): Promise<void> {
    const { role, undoes } = job;
    const isAllowed = role !== undefined && may(role, 'runJobs');
    if (!isAllowed || (undoes === undefined && !(await this.#isAssignable(job)))) {
      await this.#jobs.finish(job, 'failed', job.total);
      return;
    }
    const principal: Principal = { ...job, role, scope: 'full' };
    if (undoes !== undefined) {
      await this.#undoBatch(principal, { ...job, undoes });
      return;
    }
    const selection = selectLeads(principal, { ...job.filters, sort: 'createdAt' });
    const total = job.total ?? (await this.#leads.count(untilStart(selection, job)));
    const planned = job.planned ?? (await this.#plan(job, selection, total));
    if (planned === undefined) return;
    await this.#jobs.record(job, await this.#change(principal, job, planned));
  }

  /** Changes leads of another job back. A batch can be repeated, so it is not stored before the changes. */
  async #undoBatch(principal: Principal, job: ClaimedJob & { readonly undoes: string }): Promise<void> {
    const bulk = { workspaceId: job.workspaceId, bulkId: job.undoes };
    const total = job.total ?? (await this.#leads.countBulkChanges(bulk));
    const changes = await this.#leads.bulkChanges(bulk, { limit: batchSize, afterId: job.afterId });
    const last = changes.at(-1);
    if (last === undefined) {
      await this.#jobs.finish(job, 'done', total);
      return;
    }
    const stores = { leads: this.#leads, workspaces: this.#workspaces };
    const results = await undoChanges(stores, principal, bulk.bulkId, changes);
    await this.#jobs.record(job, { ...progressOf(results), total, afterId: last.id });
  }

  /** Whether the new assignee, if there is one, is an owner or manager of the workspace. */
  async #isAssignable({ workspaceId, assigneeId }: ClaimedJob): Promise<boolean> {
    return assigneeId === undefined || (await this.#workspaces.hasManager(workspaceId, assigneeId));
  }

  /** Finds and stores the next leads. @returns undefined if there are none, and if the lease has ended. */
  async #plan(
    job: ClaimedJob,
    selection: LeadSelection,
    total: number,
  ): Promise<readonly PlannedLead[] | undefined> {
    const rows = await this.#leads.scan(untilStart(selection, job), { limit: batchSize, after: job.after });
    const last = rows.at(-1);
    if (last === undefined) {
      await this.#jobs.finish(job, 'done', total);
      return undefined;
    }
    const planned = rows.map((row) => ({ id: row[idAt] as string, from: row[statusAt] as LeadStatus }));
    const after = { time: new Date(last[createdAt] as string), id: last[idAt] as string };
    return (await this.#jobs.plan(job, planned, after, total)) ? planned : undefined;
  }

  async #change(
    principal: Principal,
    job: ClaimedJob,
    planned: readonly PlannedLead[],
  ): Promise<JobProgress> {
    const reached = await this.#findReached(job);
    const open = planned.filter(({ id }) => !reached.has(id));
    const results = await (job.status === undefined
      ? this.#assign(principal, job, open)
      : this.#changeStatuses(principal, { ...job, status: job.status }, open));
    const { refusals } = progressOf(results);
    return { changed: planned.length - refusals.length, refusals };
  }

  /**
   * Returns the leads that an instance changed before it died. Their present values do not show this, because a user may
   * have changed them back since.
   */
  async #findReached({ workspaceId, id: bulkId, planned }: ClaimedJob): Promise<ReadonlySet<string>> {
    // No other instance has worked on a plan that is stored after this claim.
    if (planned === undefined) return new Set();
    const ids = planned.map(({ id }) => id);
    return this.#leads.findBulkChanged({ workspaceId, bulkId }, ids);
  }

  /** Sets the assignee. A lead that has it already keeps its version. */
  async #assign(
    principal: Principal,
    { id, assigneeId = '' }: ClaimedJob,
    planned: readonly PlannedLead[],
  ): Promise<ChangeResult[]> {
    const ids = planned.map((lead) => lead.id);
    const stores = { leads: this.#leads, workspaces: this.#workspaces };
    const { results } = await assignLeads(stores, principal, { ids, assigneeId }, id);
    return results;
  }

  /** Changes the statuses. A lead with another status than planned is a conflict. */
  async #changeStatuses(
    principal: Principal,
    { id: bulkId, status, reason }: ClaimedJob & { readonly status: LeadStatus },
    planned: readonly PlannedLead[],
  ): Promise<ChangeResult[]> {
    const expected = new Map(planned.map(({ id, from }) => [id, from]));
    const change = {
      ids: planned.map(({ id }) => id),
      status,
      ...(reason !== undefined && { reason }),
    };
    return changeStatuses(this.#leads, principal, change, { expected, bulkId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}

/** Returns the counts of the results of a batch. */
function progressOf(results: readonly ChangeResult[]): JobProgress {
  const refusals = results.flatMap((result) =>
    'error' in result ? [{ id: result.id, message: result.error.message }] : [],
  );
  return { changed: results.length - refusals.length, refusals };
}

/** Returns the selection without the leads that were created after the start of the job. */
function untilStart(selection: LeadSelection, { createdAt: startedAt }: ClaimedJob): LeadSelection {
  const { createdTo = startedAt } = selection.filter;
  const earlier = createdTo < startedAt ? createdTo : startedAt;
  return { ...selection, filter: { ...selection.filter, createdTo: earlier } };
}
