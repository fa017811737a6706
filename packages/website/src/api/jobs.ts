import type { LeadFilterQuery, LeadJob, NewLeadJob } from '@leads/core/lead';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

/** The intervals of requests for jobs while a job runs, and while none does. */
const runningMs = 1_000;
const idleMs = 30_000;

/** Queries the newest jobs of the workspace. */
export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: ({ signal }) => call<LeadJob[]>('/console/jobs', { signal }),
  refetchInterval: ({ state: { data } }) =>
    data?.some(({ state }) => state === 'running') === true ? runningMs : idleMs,
});

interface JobAnswer {
  readonly job: LeadJob;
}

/** Starts a change of the status or the assignee of all leads that match filters. A repeated call with the same key starts no second job. */
export async function startJob({
  idempotencyKey,
  filters: { sort: _sort, ...filters },
  ...job
}: Omit<NewLeadJob, 'filters'> & {
  filters: LeadFilterQuery;
  idempotencyKey: string;
}): Promise<LeadJob> {
  const headers = { 'idempotency-key': idempotencyKey };
  const body = { filters, ...job };
  return (await call<JobAnswer>('/console/jobs', { method: 'POST', headers, body })).job;
}

export function cancelJob(id: string): Promise<unknown> {
  return call(`/console/jobs/${id}`, { method: 'DELETE' });
}

/** Starts a job that undoes a job. A repeated call starts no second one. */
export async function undoJob(id: string): Promise<LeadJob> {
  return (await call<JobAnswer>(`/console/jobs/${id}/undo`, { method: 'POST' })).job;
}
