import { useMutation, useQueryClient } from '@tanstack/react-query';
import { jobsQuery, startJob } from '../../api/jobs.ts';
import { addRunningJob } from './running-jobs.ts';

/** Starts a job. Calls `onStarted` when the list of jobs contains it. */
export function useStartJob(onStarted: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: startJob,
    async onSuccess(job) {
      addRunningJob(queryClient, job);
      await queryClient.invalidateQueries({ queryKey: jobsQuery.queryKey });
      onStarted();
    },
  });
}
