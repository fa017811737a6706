import { Button, Loader } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type MemberRole, may } from '@leads/core/credential/roles';
import type { LeadJob } from '@leads/core/lead';
import { jobsQuery, undoJob } from '../../api/jobs.ts';
import { showFailure } from '../../shell/failure-notice.tsx';
import { inert } from '../../shell/inert.ts';
import * as texts from '../../texts/index.ts';
import { describeJob } from './describe-job.ts';
import { addRunningJob } from './running-jobs.ts';

const t = texts.leads;

/** The button that undoes a job that has ended. Renders nothing for a job that the role cannot undo. */
export function UndoJobButton({ job, role }: { job: LeadJob; role: MemberRole }) {
  const queryClient = useQueryClient();
  const undo = useMutation({
    mutationFn: undoJob,
    onSuccess: (started) => addRunningJob(queryClient, started),
    onError: (error, id) => showFailure(error, () => undo.mutate(id)),
    onSettled: () => queryClient.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  });
  const { id: jobId, state, status, changed, undoes, undoneBy } = job;
  if (state === 'running' || changed === 0 || undoes !== undefined) return null;
  if (status === 'Paid' && !may(role, 'changePaidLeads')) return null;
  const isStarted = undoneBy !== undefined;
  const isInert = isStarted || undo.isPending;
  const label = isStarted ? t.undoStarted : t.undo;
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`${label}: ${describeJob(job)}`}
      {...inert(isInert)}
      aria-busy={undo.isPending}
      {...(undo.isPending && { leftSection: <Loader size={14} /> })}
      onClick={() => !isInert && undo.mutate(jobId)}
    >
      {label}
    </Button>
  );
}
