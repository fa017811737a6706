import type { Payment } from '@leads/core/payout';
import { Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../api/client.ts';
import { cancelPayment, paymentsKey } from '../../api/payments.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { payments as t } from '../../texts/payments.ts';

/** Names the effect of a cancellation, and asks for its reason. */
export function CancelPaymentDialog({ payment, onClose }: { payment: Payment; onClose: () => void }) {
  const { id, number, state, leads, returned } = payment;
  const queryClient = useQueryClient();
  const [reason, setReason] = useState('');
  const cancel = useMutation({
    mutationFn: () => cancelPayment(id, reason.trim()),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: paymentsKey }),
  });
  return (
    <Dialog onClose={onClose} title={t.cancelTitle(number)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          cancel.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack>
          <Text size="sm">
            {state === 'paying' && `${t.cancelRest} `}
            {t.cancelLead(leads - returned)}
          </Text>
          <TextInput
            label={t.cancelReason}
            description={t.cancelReasonHint}
            required
            // A reason of spaces is empty.
            pattern=".*\S.*"
            title={t.cancelReasonHint}
            data-autofocus
            error={fieldErrorsOf(cancel.error)['reason']}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <FormActions
            submit={t.cancel}
            dismiss={t.keep}
            error={cancel.error}
            isPending={cancel.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
