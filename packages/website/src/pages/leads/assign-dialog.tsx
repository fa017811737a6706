import { NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Lead } from '@leads/core/lead';
import { useState } from 'react';
import { fieldErrorsOf } from '../../api/client.ts';
import { type Assigned, assignLeads } from '../../api/leads.ts';
import { membersQuery } from '../../api/members.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { assigneeOptions } from '../../shell/member-options.ts';
import { QueryState } from '../../shell/states.tsx';
import { useIdempotencyKey } from '../../shell/use-idempotency-key.ts';
import * as texts from '../../texts/index.ts';
import type { LeadFilters } from '../../leads/lead-search.ts';
import { useStartJob } from './use-start-job.ts';

const t = texts.leads;

/** Asks for the assignee of the given leads, and assigns them. Without leads, starts a job for all that match the filters. */
export function AssignDialog({
  leads,
  filters,
  total,
  onStarted,
  onAssigned,
  onDone,
  onClose,
}: {
  leads: readonly Lead[] | undefined;
  filters: LeadFilters;
  total: number;
  onStarted: () => void;
  /** Receives the sent leads, which may have left the list, with their results and the ids by which they can be undone. */
  onAssigned: (sent: readonly Lead[], assigned: Assigned) => void;
  /** Called after the assignment if the dialog is still open. */
  onDone: () => void;
  onClose: () => void;
}) {
  const members = useQuery(membersQuery);
  const [idempotencyKey, renewKey] = useIdempotencyKey();
  const [assigneeId, setAssigneeId] = useState('');
  const start = useStartJob();
  const assign = useMutation({
    mutationFn: (sent: readonly Lead[]) => assignLeads({ ids: sent.map(({ id }) => id), assigneeId }),
    onSuccess: (assigned, sent) => onAssigned(sent, assigned),
  });
  const { error, isPending } = leads === undefined ? start : assign;
  return (
    <Dialog
      onClose={onClose}
      title={
        leads === undefined
          ? t.assignTitle(total)
          : t.assignSomeTitle((assign.isPending ? assign.variables : leads).length)
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const job = { action: 'assign', assigneeId, filters, idempotencyKey } as const;
          if (leads === undefined) start.mutate(job, { onSuccess: onStarted });
          else assign.mutate(leads, { onSuccess: onDone });
        }}
      >
        <Stack>
          {leads === undefined && <Text size="sm">{t.assignLead}</Text>}
          <NativeSelect
            label={t.assignee}
            // It has the focus before the members are loaded, because the user may type at once.
            data-autofocus
            value={assigneeId}
            error={fieldErrorsOf(error)['assigneeId']}
            data={
              members.data === undefined
                ? []
                : [{ value: '', label: t.unassigned }, ...assigneeOptions(members.data)]
            }
            onChange={(event) => {
              setAssigneeId(event.currentTarget.value);
              renewKey();
            }}
          />
          <QueryState query={members} />
          {/* Without the members, the only choice would be to remove the assignees. */}
          {members.data !== undefined && (
            <FormActions submit={t.assign} error={error} isPending={isPending} onCancel={onClose} />
          )}
        </Stack>
      </form>
    </Dialog>
  );
}
