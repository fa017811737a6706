import { NativeSelect, Stack, Text } from '@mantine/core';
import { randomId } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { membersQuery } from '../../api/members.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { assigneeOptions } from '../../shell/member-options.ts';
import * as texts from '../../texts/index.ts';
import type { LeadFilters } from './lead-search.ts';
import { useStartJob } from './use-start-job.ts';

const t = texts.leads;

/** Asks for the assignee of all leads that match the filters, and starts the job. */
export function AssignDialog({
  filters,
  total,
  onStarted,
  onClose,
}: {
  filters: LeadFilters;
  total: number;
  onStarted: () => void;
  onClose: () => void;
}) {
  const { data: members = [] } = useQuery(membersQuery);
  // An answer can be lost: the same key starts no second job. Another assignee is another job.
  const [idempotencyKey, setIdempotencyKey] = useState(randomId);
  const [assigneeId, setAssigneeId] = useState('');
  const start = useStartJob(onStarted);
  return (
    <Dialog onClose={onClose} title={t.assignTitle(total)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate({ action: 'assign', assigneeId, filters, idempotencyKey });
        }}
      >
        <Stack>
          <Text size="sm">{t.assignLead}</Text>
          <NativeSelect
            label={t.assignee}
            data-autofocus
            value={assigneeId}
            data={[{ value: '', label: t.unassigned }, ...assigneeOptions(members)]}
            onChange={(event) => {
              setAssigneeId(event.currentTarget.value);
              setIdempotencyKey(randomId());
            }}
          />
          <FormActions submit={t.assign} error={start.error} isPending={start.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
