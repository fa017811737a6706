import { NativeSelect, Stack, Text } from '@mantine/core';
import { randomId } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Lead } from '@leads/core/lead';
import { useState } from 'react';
import { assignLeads } from '../../api/leads.ts';
import { membersQuery } from '../../api/members.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { assigneeOptions } from '../../shell/member-options.ts';
import * as texts from '../../texts/index.ts';
import type { LeadFilters } from './lead-search.ts';
import { useStartJob } from './use-start-job.ts';

const t = texts.leads;

/** Asks for the assignee of the given leads, and assigns them. Without leads, starts a job for all that match the filters. */
export function AssignDialog({
  leads,
  filters,
  total,
  onStarted,
  onAssigned,
  onClose,
}: {
  leads: readonly Lead[] | undefined;
  filters: LeadFilters;
  total: number;
  onStarted: () => void;
  onAssigned: () => void;
  onClose: () => void;
}) {
  const { data: members = [] } = useQuery(membersQuery);
  // An answer can be lost: the same key starts no second job. Another assignee is another job.
  const [idempotencyKey, setIdempotencyKey] = useState(randomId);
  const [assigneeId, setAssigneeId] = useState('');
  const start = useStartJob(onStarted);
  const assign = useMutation({
    mutationFn: () => assignLeads({ ids: leads?.map(({ id }) => id) ?? [], assigneeId }),
    onSuccess(results) {
      const refused = results.filter(({ success }) => !success);
      const [first] = refused;
      notifications.show({ message: t.assigned(results.length - refused.length) });
      if (first !== undefined) {
        const message = `${t.refusedTitle(refused.length)}: ${first.message}`;
        notifications.show({ color: 'red', message });
      }
      onAssigned();
    },
  });
  const { error, isPending } = leads === undefined ? start : assign;
  return (
    <Dialog
      onClose={onClose}
      title={leads === undefined ? t.assignTitle(total) : t.assignSomeTitle(leads.length)}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (leads === undefined) start.mutate({ action: 'assign', assigneeId, filters, idempotencyKey });
          else assign.mutate();
        }}
      >
        <Stack>
          {leads === undefined && <Text size="sm">{t.assignLead}</Text>}
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
          <FormActions submit={t.assign} error={error} isPending={isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
