import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { MemberRole } from '@leads/core/credential';
import { jobsQuery } from '../../api/jobs.ts';
import { membersQuery } from '../../api/members.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { memberName } from '../../shell/member-options.ts';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { jobs as jobTexts } from '../../texts/jobs.ts';
import { describeJob } from './describe-job.ts';
import { JobRefusals } from './job-refusals.tsx';
import { UndoJobButton } from './undo-job-button.tsx';

const t = texts.leads;

/** Lists the newest jobs of the workspace, and undoes them. */
export function JobsDialog({ role, onClose }: { role: MemberRole; onClose: () => void }) {
  const { data: jobs, error, refetch } = useQuery(jobsQuery);
  const { data: members = [] } = useQuery(membersQuery);
  return (
    <Dialog onClose={onClose} title={t.jobs} size="lg" closeOnClickOutside>
      {jobs === undefined ? (
        error === null ? (
          <PendingPage />
        ) : (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        )
      ) : jobs.length === 0 ? (
        <Text c="dimmed">{jobTexts.none}</Text>
      ) : (
        <RecordList label={t.jobs}>
          {jobs.map((job) => (
            <RecordRow
              key={job.id}
              title={<Text size="sm">{describeJob(job)}</Text>}
              facts={[
                [jobTexts.started, <ExactTime key="at" at={job.createdAt} />],
                [jobTexts.user, memberName(members, job.userId)],
              ]}
              actions={<UndoJobButton job={job} role={role} />}
            >
              <JobRefusals job={job} />
            </RecordRow>
          ))}
        </RecordList>
      )}
    </Dialog>
  );
}
