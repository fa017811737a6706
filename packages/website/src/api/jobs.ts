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

/** Starts a change of the status or the assignee of all leads that match filters. A repeated call with the same key starts no second job. */
export function startJob({
  idempotencyKey,
  filters: { sort: _sort, ...filters },
  ...job
}: Omit<NewLeadJob, 'filters'> & {
  filters: LeadFilterQuery;
  idempotencyKey: string;
}): Promise<unknown> {
  const headers = { 'idempotency-key': idempotencyKey };
  return call('/console/jobs', { method: 'POST', headers, body: { filters, ...job } });
}

export function cancelJob(id: string): Promise<unknown> {
  return call(`/console/jobs/${id}`, { method: 'DELETE' });
}

/** Starts a job that undoes a job. A repeated call starts no second one. */
export function undoJob(id: string): Promise<unknown> {
  return call(`/console/jobs/${id}/undo`, { method: 'POST' });
}
