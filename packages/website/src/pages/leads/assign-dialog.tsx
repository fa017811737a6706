import { NativeSelect, Stack, Text } from '@mantine/core';
import { randomId } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { jobsQuery, startJob } from '../../api/jobs.ts';
import { membersQuery } from '../../api/members.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { texts } from '../../texts/index.ts';
import type { LeadFilters } from './lead-search.ts';

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
  const queryClient = useQueryClient();
  const { data: members = [] } = useQuery(membersQuery);
  // An answer can be lost: the same key starts no second job. Another assignee is another job.
  const [idempotencyKey, setIdempotencyKey] = useState(randomId);
  const [assigneeId, setAssigneeId] = useState('');
  const start = useMutation({
    mutationFn: () => startJob({ action: 'assign', assigneeId, filters, idempotencyKey }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: jobsQuery.queryKey });
      onStarted();
    },
  });
  const managers = members.filter(({ role }) => role !== 'publisher');
  return (
    <Dialog onClose={onClose} title={t.assignTitle(total)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
      >
        <Stack>
          <Text size="sm">{t.assignLead}</Text>
          <NativeSelect
            label={t.assignee}
            data-autofocus
            value={assigneeId}
            data={[
              { value: '', label: t.nobody },
              ...managers.map(({ userId, name }) => ({ value: userId, label: name })),
            ]}
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
