import { isDeepStrictEqual } from 'node:util';
import { type Principal, requireManager } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { idempotentId, keyOwnerOf } from './idempotency.ts';
import { type LeadJob, type NewLeadJob, personalFilters, removedFilter } from './lead-job.schema.ts';
import type { LeadJobStore } from './lead-job-store.ts';
import { type LeadStatus, leadStatuses, needsReason, transitions } from './lead-transitions.ts';
import { checkFilters } from './list-leads.ts';

/** The most jobs that a list returns. */
const maxListed = 50;

/**
 * Starts a job that changes the status of all leads that match filters.
 *
 * @param idempotencyKey a repeated request with the same key returns the job of the first request.
 * @throws LeadsError `forbidden` for a publisher; `invalid_input`; `reason_required` if a change of a matching lead can
 *   need a reason; `idempotency_key_reused` for another job under the same key; `limit_reached`.
 */
export async function startLeadJob(
  jobs: LeadJobStore,
  principal: Principal,
  given: Omit<NewLeadJob, 'status'> & { readonly status: LeadStatus },
  idempotencyKey?: string,
): Promise<LeadJob> {
  requireManager(principal);
  checkFilters(principal, given.filters);
  const { filters, status, reason } = given;
  const from = filters.status?.split(',') ?? leadStatuses;
  const needs = leadStatuses.some(
    (each) =>
      from.includes(each) &&
      transitions[each].includes(status) &&
      needsReason(each, status) &&
      // A manager cannot take a lead out of Paid, with or without a reason.
      (each !== 'Paid' || principal.role === 'owner'),
  );
  if (reason === undefined && needs) {
    throw new LeadsError('reason_required', {
      fields: [{ at: 'body', path: '/reason', reason: `is required for a change to ${status}` }],
    });
  }
  const { workspaceId, userId } = principal;
  const id =
    idempotencyKey === undefined ? newId() : idempotentId(keyOwnerOf(principal), `job ${idempotencyKey}`);
  const job = await jobs.start({ ...given, id, workspaceId, userId });
  const kept = job.state === 'running' ? filters : withoutPersonal(filters);
  const isSame = isDeepStrictEqual(
    [job.filters, job.status, job.reason, job.userId],
    [kept, status, reason, userId],
  );
  if (!isSame) throw new LeadsError('idempotency_key_reused');
  return job;
}

function withoutPersonal(filters: NewLeadJob['filters']): NewLeadJob['filters'] {
  const entries = Object.entries(filters);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, personalFilters.includes(name) ? removedFilter : value]),
  );
}

/** Lists the newest jobs of the workspace. @throws LeadsError `forbidden` for a publisher. */
export async function listLeadJobs(jobs: LeadJobStore, principal: Principal): Promise<LeadJob[]> {
  requireManager(principal);
  return jobs.list(principal.workspaceId, maxListed);
}

/** Returns a job. @throws LeadsError `forbidden` for a publisher; `not_found`. */
export async function getLeadJob(jobs: LeadJobStore, principal: Principal, id: string): Promise<LeadJob> {
  requireManager(principal);
  const job = await jobs.find(principal.workspaceId, id);
  if (job === undefined) throw new LeadsError('not_found');
  return job;
}

/** Cancels a job. Changed leads stay changed. @throws LeadsError `forbidden` for a publisher; `not_found`. */
export async function cancelLeadJob(jobs: LeadJobStore, principal: Principal, id: string): Promise<LeadJob> {
  requireManager(principal);
  const job = await jobs.cancel(principal.workspaceId, id);
  if (job === undefined) throw new LeadsError('not_found');
  return job;
}
