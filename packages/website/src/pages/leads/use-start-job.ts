import { useMutation, useQueryClient } from '@tanstack/react-query';
import { jobsQuery, startJob } from '../../api/jobs.ts';
import { addRunningJob } from './running-jobs.ts';

/** Starts a job. It succeeds when the list of jobs contains the job. */
export function useStartJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: startJob,
    async onSuccess(job) {
      addRunningJob(queryClient, job);
      await queryClient.invalidateQueries({ queryKey: jobsQuery.queryKey });
    },
  });
}
