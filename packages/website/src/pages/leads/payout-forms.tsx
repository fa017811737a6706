import type { LeadDetail, LeadPatch } from '@leads/core/lead';
import { Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { fieldErrorsOf } from '../../api/client.ts';
import { FormActions } from '../../shell/form-actions.tsx';
import { PayoutInputs, usualCurrency } from '../../shell/payout-inputs.tsx';
import * as texts from '../../texts/index.ts';
import { useUnsaved } from './unsaved-edits.tsx';
import { useLeadEdit } from './use-lead-edit.ts';

const t = texts.leads;

interface FormProps {
  readonly lead: LeadDetail;
  readonly onClose: () => void;
}

/** Sets the payout of one lead, or removes it. */
export function PayoutForm({ lead, onClose }: FormProps) {
  const { payout } = lead;
  const before = { amount: payout?.amount ?? '', currency: payout?.currency ?? usualCurrency };
  const [value, setValue] = useState(before);
  const amount = value.amount.trim();
  return (
    <ReasonedForm
      {...{ lead, onClose }}
      isChanged={value.amount !== before.amount || value.currency !== before.currency}
      submit={t.setPayout}
      patch={{ payout: amount === '' ? null : { amount, currency: value.currency } }}
    >
      {(errors) => (
        <PayoutInputs
          size="xs"
          value={value}
          onChange={setValue}
          error={errors['payout']}
          isRequired={payout?.rule !== 'lead'}
          description={payout?.rule === 'lead' ? t.removePayoutHint : undefined}
        />
      )}
    </ReasonedForm>
  );
}

/** Keeps a lead from its approval at the end of the hold time. */
export function HoldForm(props: FormProps) {
  return (
    <ReasonedForm {...props} isChanged={false} patch={{ hold: true }} submit={t.hold}>
      {() => null}
    </ReasonedForm>
  );
}

function ReasonedForm({
  lead,
  onClose,
  isChanged,
  patch,
  submit,
  children,
}: FormProps & {
  /** Whether the fields of the form, without the reason, differ from the lead. */
  isChanged: boolean;
  patch: LeadPatch;
  /** The label of the button, which is that of the button that opens the form. */
  submit: string;
  children: (errors: Readonly<Record<string, string>>) => ReactNode;
}) {
  const [reason, setReason] = useState('');
  const save = useLeadEdit(lead.id);
  useUnsaved('payout', isChanged || reason !== '');
  const errors = fieldErrorsOf(save.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ ...patch, reason: reason.trim() }, { onSuccess: onClose });
      }}
    >
      <Stack gap="xs">
        {children(errors)}
        <TextInput
          size="xs"
          label={t.reason}
          required
          error={errors['reason']}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <FormActions submit={submit} error={save.error} isPending={save.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
