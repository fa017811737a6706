import { Stack, Text, TextInput } from '@mantine/core';
import { needsReason } from '@leads/core/lead/transitions';
import type { MemberRole } from '@leads/core/credential';
import type { LeadStatus } from '@leads/core/lead';
import { useState } from 'react';
import { fieldErrorsOf } from '../../api/client.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { useIdempotencyKey } from '../../shell/use-idempotency-key.ts';
import * as texts from '../../texts/index.ts';
import { jobs as jobTexts } from '../../texts/jobs.ts';
import { type LeadFilters, statusesOf } from '../../leads/lead-search.ts';
import { nextStatuses, statuses } from '../../leads/lead-status.ts';
import { useStartJob } from './use-start-job.ts';

const t = texts.leads;

/** Confirms a status change of all leads that match the filters, asks for the reason if it needs one, and starts it. */
export function JobDialog({
  to,
  filters,
  total,
  role,
  onStarted,
  onClose,
}: {
  to: LeadStatus;
  filters: LeadFilters;
  total: number;
  role: MemberRole;
  onStarted: () => void;
  onClose: () => void;
}) {
  const [idempotencyKey, renewKey] = useIdempotencyKey();
  const [reason, setReason] = useState('');
  const given = statusesOf(filters);
  const from = given.length === 0 ? statuses : given;
  const isNeeded = from.some((each) => nextStatuses(each, role).includes(to) && needsReason(each, to));
  const start = useStartJob();
  return (
    <Dialog onClose={onClose} title={jobTexts.title(t.statuses[to], total)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate(
            {
              action: 'status',
              status: to,
              filters,
              idempotencyKey,
              ...(isNeeded && { reason: reason.trim() }),
            },
            { onSuccess: onStarted },
          );
        }}
      >
        <Stack>
          <Text size="sm">{jobTexts.lead}</Text>
          {isNeeded && (
            <TextInput
              label={t.reason}
              required
              data-autofocus
              error={fieldErrorsOf(start.error)['reason']}
              value={reason}
              onChange={(event) => {
                setReason(event.currentTarget.value);
                renewKey();
              }}
            />
          )}
          <FormActions
            submit={t.markAs(t.statuses[to])}
            error={start.error}
            isPending={start.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
