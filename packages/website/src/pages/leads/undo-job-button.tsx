import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { MemberRole } from '@leads/core/credential';
import type { LeadJob } from '@leads/core/lead';
import { jobsQuery, undoJob } from '../../api/jobs.ts';
import * as texts from '../../texts/index.ts';
import { describeJob } from './describe-job.ts';

const t = texts.leads;

/** The button that undoes a job that has ended. Renders nothing for a job that the role cannot undo. */
export function UndoJobButton({ job, role }: { job: LeadJob; role: MemberRole }) {
  const queryClient = useQueryClient();
  const undo = useMutation({
    mutationFn: undoJob,
    onError: (error) => notifications.show({ color: 'red', message: error.message }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  });
  const { id, state, status, changed, undoes, undoneBy } = job;
  if (state === 'running' || changed === 0 || undoes !== undefined) return null;
  if (status === 'Paid' && role !== 'owner') return null;
  const isStarted = undoneBy !== undefined || undo.isPending;
  const label = isStarted ? t.undoStarted : t.undo;
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`${label}: ${describeJob(job)}`}
      // A disabled button would lose the focus of the keyboard.
      {...(isStarted && { 'data-disabled': true })}
      aria-disabled={isStarted}
      onClick={() => !isStarted && undo.mutate(id)}
    >
      {label}
    </Button>
  );
}
