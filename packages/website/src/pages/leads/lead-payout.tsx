import type { LeadDetail } from '@leads/core/lead';
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { formatMoney } from '../../shell/money.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { exactTime, relativeTime, useNow } from '../../shell/time.ts';
import * as texts from '../../texts/index.ts';
import { statusOf } from '../../leads/lead-status.ts';
import { Fact, Section } from './panel-parts.tsx';
import { useLeadEdit } from './use-lead-edit.ts';
import { lazySection } from '../../shell/lazy-part.tsx';
import { useMay } from '../../shell/use-may.ts';

const t = texts.leads;

// Most leads are read without a change of these.
const PayoutForm = lazySection(async () => (await import('./payout-forms.tsx')).PayoutForm);
const HoldForm = lazySection(async () => (await import('./payout-forms.tsx')).HoldForm);

/** The payout of a lead, and when or whether it is approved without a person. */
export function LeadPayout({ lead }: { lead: LeadDetail }) {
  const [form, setForm] = useState<'payout' | 'hold'>();
  const { payout, approveAt, holdReason } = lead;
  const status = statusOf(lead);
  const release = useLeadEdit(lead.id);
  const canChange = useMay('changeStatuses');
  const isOpen = canChange && status === 'OnHold';
  // Without a hold time, no automatic approval is due.
  const canHold = isOpen && (approveAt !== undefined || holdReason !== undefined);
  const canSet = isOpen || (canChange && status === 'Approved');
  const close = () => setForm(undefined);
  return (
    <Section title={texts.payouts.payout}>
      <Fact
        label={texts.payouts.amount}
        value={
          payout === undefined
            ? texts.payouts.none
            : texts.payouts.withMeaning(formatMoney(payout), texts.payouts.meanings[status])
        }
      />
      <Fact label={texts.payouts.rule} value={payout && texts.payouts.rules[payout.rule]} />
      {approveAt !== undefined && <Due at={approveAt} />}
      <Fact label={t.holdReason} value={holdReason} />
      {form === undefined && canSet && (
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => setForm('payout')}>
            {t.setPayout}
          </Button>
          {canHold &&
            (holdReason === undefined ? (
              <Button size="compact-sm" variant="default" onClick={() => setForm('hold')}>
                {t.hold}
              </Button>
            ) : (
              <Button
                size="compact-sm"
                variant="default"
                loading={release.isPending}
                onClick={() => release.mutate({ hold: false })}
              >
                {t.endHold}
              </Button>
            ))}
        </Group>
      )}
      {release.isError && <ErrorNotice error={release.error} />}
      {form === 'payout' && canSet && <PayoutForm lead={lead} onClose={close} />}
      {form === 'hold' && canHold && <HoldForm lead={lead} onClose={close} />}
    </Section>
  );
}

/** When a lead is approved at the end of its hold time. */
function Due({ at }: { at: string }) {
  const now = useNow();
  return (
    <Text size="sm">
      <time dateTime={at} title={exactTime(at)}>
        {Date.parse(at) > now ? t.approvedIn(relativeTime(at, now)) : t.approvedNow}
      </time>
    </Text>
  );
}
