import { Alert, Button, Group, Progress, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { MemberRole } from '@leads/core/credential';
import type { LeadJob } from '@leads/core/lead';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { cancelJob, jobsQuery } from '../../api/jobs.ts';
import { invalidateCounts } from '../../api/leads.ts';
import { focusPage } from '../../shell/focus-page.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { jobs as jobTexts } from '../../texts/jobs.ts';
import { describeJob } from './describe-job.ts';
import { JobRefusals } from './job-refusals.tsx';
import { readRunningJobs, storeRunningJobs } from './running-jobs.ts';
import { UndoJobButton } from './undo-job-button.tsx';

const t = texts.leads;

/** The progress of the running jobs, and the results of the jobs that this tab has started or seen running. */
export function JobsLine({ jobs, role }: { jobs: readonly LeadJob[]; role: MemberRole }) {
  const queryClient = useQueryClient();
  const seen = useRef<ReadonlySet<string>>(undefined);
  const [reported, setReported] = useState<readonly LeadJob[]>([]);
  const ended = reported.map((job) => jobs.find(({ id }) => id === job.id) ?? job);
  const running = jobs.filter(({ state }) => state === 'running');
  const onJobs = useEffectEvent((now: readonly LeadJob[]) => {
    const before = seen.current ?? readRunningJobs();
    const news = now.filter(({ id, state }) => state !== 'running' && before.has(id));
    seen.current = new Set(now.filter(({ state }) => state === 'running').map(({ id }) => id));
    storeRunningJobs(seen.current);
    if (news.length === 0) return;
    setReported((earlier) => [...earlier, ...news]);
    // More leads can have changed than one poll of the list returns.
    void queryClient.refetchQueries({ queryKey: ['leads', 'list'], type: 'active' });
    invalidateCounts(queryClient);
  });
  useEffect(() => onJobs(jobs), [jobs]);
  const cancel = useMutation({
    mutationFn: cancelJob,
    onSettled: () => queryClient.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  });
  return (
    <>
      {running.map((job) => {
        const { id, total, changed, refused } = job;
        const label = describeJob(job);
        return (
          <Group key={id} gap="sm" wrap="nowrap">
            <Stack gap={4} flex={1} miw={0}>
              <Text size="sm">
                {label}
                {refused > 0 && `. ${jobTexts.refused(refused)}`}
              </Text>
              <Progress
                value={total === undefined || total === 0 ? 0 : ((changed + refused) / total) * 100}
                aria-label={label}
              />
            </Stack>
            <Button
              size="compact-sm"
              variant="default"
              loading={cancel.isPending && cancel.variables === id}
              onClick={() => cancel.mutate(id)}
            >
              {t.cancelJob}
            </Button>
          </Group>
        );
      })}
      {cancel.isError && <ErrorNotice error={cancel.error} onRetry={() => cancel.mutate(cancel.variables)} />}
      {ended.map((job) => (
        <Alert
          key={job.id}
          p="xs"
          color={job.state === 'done' && job.refused === 0 ? 'green' : 'yellow'}
          title={describeJob(job)}
          withCloseButton
          closeButtonLabel={texts.common.close}
          onClose={() => {
            setReported((before) => before.filter(({ id }) => id !== job.id));
            focusPage();
          }}
        >
          <Stack gap="xs" align="flex-start">
            <JobRefusals job={job} />
            <UndoJobButton job={job} role={role} />
          </Stack>
        </Alert>
      ))}
      <VisuallyHidden role="status">{ended.map(describeJob).join('. ')}</VisuallyHidden>
    </>
  );
}
