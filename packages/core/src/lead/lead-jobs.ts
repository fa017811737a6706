import { isDeepStrictEqual } from 'node:util';
import { type Principal, requirePermission, requireScope } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import { requireAssignable } from './assign-leads.ts';
import { idempotentId, keyOwnerOf } from './idempotency.ts';
import { type LeadJob, type NewLeadJob, personalFilters, removedFilter } from './lead-job.schema.ts';
import type { LeadJobStore } from './lead-job-store.ts';
import { statusesBefore } from './lead-status.ts';
import type { LeadStore } from './lead-store.ts';
import { type LeadStatus, leadStatuses } from './lead-transitions.ts';
import { checkFilters } from './list-leads.ts';

/** The most jobs that a list returns. */
const maxListed = 50;

/** The scope that an API key needs for each action, as for the change of a single lead. */
const scopeOf = { status: 'leads:status', assign: 'leads:write' } as const;

/** The scopes that suffice for some action. */
export const jobScopes = Object.values(scopeOf);

/** A job to start, with a status of the service instead of a name of the workspace. */
type GivenJob = Omit<NewLeadJob, 'status'> & { readonly status?: LeadStatus };

/**
 * Starts a job that changes the status, or the assignee, of all leads that match filters.
 *
 * @param idempotencyKey a repeated request with the same key returns the job of the first request.
 * @throws LeadsError `forbidden` for a publisher, and for an API key without the scope of the action; `invalid_input`
 *   for fields of another action, and for an assignee that is not an owner or manager of the workspace; `reason_required` if a change of a matching lead can
 *   need a reason; `idempotency_key_reused` for another job under the same key; `limit_reached`.
 */
export async function startLeadJob(
  { jobs, workspaces }: { jobs: LeadJobStore; workspaces: Pick<WorkspaceStore, 'hasManager'> },
  principal: Principal,
  given: GivenJob,
  idempotencyKey?: string,
): Promise<LeadJob> {
  requirePermission(principal, 'runJobs');
  checkFilters(principal, given.filters);
  checkFields(given);
  const { action, filters, status, reason } = given;
  requireScope(principal, scopeOf[action]);
  if (action === 'assign') await requireAssignable(workspaces, principal, given);
  if (status !== undefined) requireReason(principal, { ...given, status });
  // An empty text removes the assignee.
  const assigneeId = given.assigneeId === '' ? undefined : given.assigneeId?.toLowerCase();
  const { workspaceId, userId } = principal;
  const id =
    idempotencyKey === undefined ? newId() : idempotentId(keyOwnerOf(principal), `job ${idempotencyKey}`);
  const job = await jobs.start({
    id,
    action,
    filters,
    workspaceId,
    userId,
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason }),
    ...(assigneeId !== undefined && { assigneeId }),
  });
  const kept = job.state === 'running' ? filters : withoutPersonal(filters);
  const isSame = isDeepStrictEqual(
    [job.action, job.filters, job.status, job.reason, job.assigneeId, job.userId],
    [action, kept, status, reason, assigneeId, userId],
  );
  if (!isSame) throw new LeadsError('idempotency_key_reused');
  return job;
}

/** The fields that each action needs, and those that it accepts. */
const fieldsOf = {
  status: { needed: 'status', allowed: ['status', 'reason'] },
  assign: { needed: 'assigneeId', allowed: ['assigneeId'] },
} as const;

function checkFields(given: GivenJob): void {
  const { needed, allowed } = fieldsOf[given.action];
  const names = ['status', 'reason', 'assigneeId'] as const;
  const others = names.filter((name) => given[name] !== undefined && !allowed.some((each) => each === name));
  const faults = [
    ...(given[needed] === undefined ? [[needed, 'is required']] : []),
    ...others.map((name) => [name, `is not allowed with the action ${given.action}`]),
  ];
  if (faults.length === 0) return;
  throw new LeadsError('invalid_input', {
    fields: faults.map(([name, reason]) => ({ at: 'body', path: `/${name}`, reason: reason ?? '' })),
  });
}

/** Requires a reason if the principal can change a matching lead only with one. */
function requireReason(
  { role }: Principal,
  { filters, status, reason }: GivenJob & { readonly status: LeadStatus },
): void {
  if (reason !== undefined) return;
  const from = filters.status?.split(',') ?? leadStatuses;
  const withoutReason = statusesBefore(status, { role });
  const needs = statusesBefore(status, { role, reason: 'any' }).some(
    (each) => from.includes(each) && !withoutReason.includes(each),
  );
  if (needs) {
    throw new LeadsError('reason_required', {
      fields: [{ at: 'body', path: '/reason', reason: `is required for a change to ${status}` }],
    });
  }
}

/**
 * Starts a job that changes the leads of a finished job back, as {@link undoChanges} does. A repeated request returns the
 * same undo.
 *
 * @throws LeadsError `forbidden` for a publisher, for an API key without the scope of the action, and for a manager that
 *   undoes a change to Paid; `conflict` for a job that runs, that is an undo itself, or that recorded no change;
 *   `limit_reached`; `not_found`.
 */
export async function undoLeadJob(
  { jobs, leads }: { jobs: LeadJobStore; leads: Pick<LeadStore, 'bulkChanges'> },
  principal: Principal,
  id: string,
): Promise<LeadJob> {
  const job = await getLeadJob(jobs, principal, id);
  requireScope(principal, scopeOf[job.action]);
  if (job.undoes !== undefined) throw refused('An undo cannot be undone: start the change again');
  if (job.state === 'running') throw refused('The job is running: cancel it first, or wait for its end');
  if (job.status === 'Paid' && !may(principal.role, 'changePaidLeads')) {
    throw new LeadsError('forbidden', { message: 'Only an owner may take leads from Paid to Approved' });
  }
  const { workspaceId, userId } = principal;
  if ((await leads.bulkChanges({ workspaceId, bulkId: id }, { limit: 1 })).length === 0) {
    throw refused('The job has no changes that can be undone');
  }
  return jobs.startUndo({ id: newId(), workspaceId, userId, undoes: id });
}

const refused = (message: string) => new LeadsError('conflict', { message });

function withoutPersonal(filters: NewLeadJob['filters']): NewLeadJob['filters'] {
  const entries = Object.entries(filters);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, personalFilters.includes(name) ? removedFilter : value]),
  );
}

/** Lists the newest jobs of the workspace. @throws LeadsError `forbidden` for a publisher. */
export async function listLeadJobs(jobs: LeadJobStore, principal: Principal): Promise<LeadJob[]> {
  requirePermission(principal, 'runJobs');
  return jobs.list(principal.workspaceId, maxListed);
}

/** Returns a job. @throws LeadsError `forbidden` for a publisher; `not_found`. */
export async function getLeadJob(jobs: LeadJobStore, principal: Principal, id: string): Promise<LeadJob> {
  requirePermission(principal, 'runJobs');
  const job = await jobs.find(principal.workspaceId, id);
  if (job === undefined) throw new LeadsError('not_found');
  return job;
}

/**
 * Cancels a job. Changed leads stay changed.
 *
 * @throws LeadsError `forbidden` for a publisher, and for an API key without the scope of the action; `not_found`.
 */
export async function cancelLeadJob(jobs: LeadJobStore, principal: Principal, id: string): Promise<LeadJob> {
  const { action } = await getLeadJob(jobs, principal, id);
  requireScope(principal, scopeOf[action]);
  const job = await jobs.cancel(principal.workspaceId, id);
  if (job === undefined) throw new LeadsError('not_found');
  return job;
}
