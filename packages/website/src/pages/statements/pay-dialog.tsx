import type { StatementQuery } from '@leads/core/payout';
import { Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { fieldErrorsOf } from '../../api/client.ts';
import { createPayment, paymentsKey } from '../../api/payments.ts';
import { statementsKey } from '../../api/payouts.ts';
import { DateInput } from '../../shell/date-input.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { formatMoney } from '../../shell/money.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { formatDay } from '../../shell/time.ts';
import { useIdempotencyKey } from '../../shell/use-idempotency-key.ts';
import { payments as t } from '../../texts/payments.ts';
import { daysOf } from '../../shell/range-search.ts';
import { followPayment } from '../payments/follow-payment.ts';

/** The payable leads of a publisher in one currency. */
export interface Payable {
  readonly userId: string;
  readonly publisher: string;
  readonly leads: number;
  readonly amount: string;
  readonly currency: string;
}

/** The days and the campaign of a statement. */
export type PayableDays = Required<Pick<StatementQuery, 'from' | 'to' | 'zone'>> &
  Pick<StatementQuery, 'campaignCode'>;

/** Names the leads and the amount that a payment marks as paid, asks for its date and note, and creates it. */
export function PayDialog({
  payable: { userId, publisher, leads, amount, currency },
  days,
  onClose,
}: {
  payable: Payable;
  days: PayableDays;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [idempotencyKey, renewKey] = useIdempotencyKey();
  const [date, setDate] = useState(() => daysOf({ range: 'today', zone: days.zone }).to);
  const [note, setNote] = useState('');
  const pay = useMutation({
    mutationFn: () =>
      createPayment({
        ...days,
        userId,
        currency,
        date,
        idempotencyKey,
        ...(note.trim() !== '' && { note: note.trim() }),
      }),
    onSuccess(payment) {
      followPayment(queryClient, payment.id);
      void queryClient.invalidateQueries({ queryKey: paymentsKey });
      void queryClient.invalidateQueries({ queryKey: statementsKey });
      if (payment.total !== leads) notifications.show({ message: t.changed(payment.total, leads) });
    },
    // The statement may be out of date.
    onError: () => queryClient.invalidateQueries({ queryKey: statementsKey }),
  });
  const faults = fieldErrorsOf(pay.error);
  return (
    <Dialog onClose={onClose} title={t.payTitle(formatMoney({ amount, currency }))}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          pay.mutate(undefined, {
            // Not called after the dialog is closed, when the user may be elsewhere.
            onSuccess: ({ id }) => void navigate({ to: '/payments/$id', params: { id } }),
          });
        }}
      >
        <Stack>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t.payLead(leads, publisher, formatDay(days.from), formatDay(days.to), days.zone)}
            {days.campaignCode !== undefined && ` ${t.payCampaign(days.campaignCode)}`}
          </Text>
          <Text size="sm">{t.payRule}</Text>
          <DateInput
            label={t.date}
            required
            min="1970-01-01"
            data-autofocus
            error={faults['date']}
            value={date}
            onChange={(event) => {
              setDate(event.currentTarget.value);
              renewKey();
            }}
          />
          <Textarea
            label={t.note}
            description={t.noteHint}
            autosize
            minRows={2}
            maxRows={6}
            error={faults['note']}
            value={note}
            onChange={(event) => {
              setNote(event.currentTarget.value);
              renewKey();
            }}
          />
          {/* The days come from the statement, so no field of the form shows that they are invalid. */}
          {Object.keys(faults).some((name) => name !== 'date' && name !== 'note') && pay.error !== null && (
            <ErrorNotice error={pay.error} />
          )}
          <FormActions submit={t.submit} error={pay.error} isPending={pay.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
