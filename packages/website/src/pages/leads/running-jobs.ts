import type { LeadJob } from '@leads/core/lead';
import type { QueryClient } from '@tanstack/react-query';
import { jobsQuery } from '../../api/jobs.ts';
import { workspaceOfPage } from '../../api/workspace-address.ts';

/** Returns the entry of the session's storage with the ids of the workspace's running jobs, whose results a reload must not lose. */
const storageKey = () => `running-jobs ${workspaceOfPage() ?? ''}`;

/** Returns the ids of the running jobs that this tab has started or seen. */
export function readRunningJobs(): ReadonlySet<string> {
  return new Set(sessionStorage.getItem(storageKey())?.split(','));
}

export function storeRunningJobs(ids: ReadonlySet<string>): void {
  sessionStorage.setItem(storageKey(), [...ids].join());
}

/**
 * Lists a job that this tab has started as running, so that its result is shown even if the next answer lists it as ended.
 * A list of jobs that is not shown yet reads it from the storage.
 */
export function addRunningJob(queryClient: QueryClient, job: LeadJob): void {
  storeRunningJobs(new Set([...readRunningJobs(), job.id]));
  const running: LeadJob = { ...job, state: 'running' };
  queryClient.setQueryData(
    jobsQuery.queryKey,
    (jobs) => jobs && [running, ...jobs.filter(({ id }) => id !== job.id)],
  );
}
