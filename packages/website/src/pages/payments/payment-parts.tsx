import type { Payment } from '@leads/core/payout';
import { Alert, Badge, Progress, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { membersQuery } from '../../api/members.ts';
import { isInProgress, paymentsQuery } from '../../api/payments.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { memberName } from '../../shell/member-options.ts';
import { formatMoney } from '../../shell/money.ts';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime, RelativeTime } from '../../shell/relative-time.tsx';
import { formatDay } from '../../shell/time.ts';
import { useMay } from '../../shell/use-may.ts';
import { payments as t } from '../../texts/payments.ts';
import { formatNumber } from '../../shell/numbers.ts';
import { followPayment } from './follow-payment.ts';

const colors: Readonly<Record<Payment['state'], string>> = {
  paying: 'yellow',
  paid: 'green',
  cancelling: 'yellow',
  cancelled: 'gray',
};

export function PaymentState({ state }: Pick<Payment, 'state'>) {
  return (
    <Badge variant="dot" color={colors[state]}>
      {t.states[state]}
    </Badge>
  );
}

/** Returns whether the user sees the payments of all publishers, and a function that returns the names of members for it. */
export function usePeople() {
  const isManaging = useMay('readAllLeads');
  // A publisher may not read the members.
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: isManaging });
  return {
    isManaging,
    members,
    nameOf: (userId: string) => memberName(members, userId),
  };
}

/** Returns the details that the list and the page of a payment show. */
export function paymentFacts(
  payment: Payment,
  { isManaging, nameOf }: Pick<ReturnType<typeof usePeople>, 'isManaging' | 'nameOf'>,
): (readonly [string, ReactNode])[] {
  const { userId, amount, currency, leads, date, campaignCode, createdAt, createdBy, note } = payment;
  const { cancelledAt, cancelledBy, cancelReason } = payment;
  return [
    ...(isManaging ? [[t.publisher, nameOf(userId)] as const] : []),
    [t.amount, formatMoney({ amount, currency })],
    [t.leads, formatNumber(leads)],
    [t.date, formatDay(date)],
    ...(campaignCode === undefined ? [] : [[t.campaign, campaignCode] as const]),
    [t.created, <ExactTime key="created" at={createdAt} />],
    ...(isManaging ? [[t.createdBy, nameOf(createdBy)] as const] : []),
    ...(note === undefined ? [] : [[t.note, note] as const]),
    ...(cancelledAt === undefined
      ? []
      : [[t.canceled, <ExactTime key="canceled" at={cancelledAt} />] as const]),
    ...(isManaging && cancelledBy !== undefined ? [[t.canceledBy, nameOf(cancelledBy)] as const] : []),
    ...(cancelReason === undefined ? [] : [[t.reason, cancelReason] as const]),
  ];
}

/** The progress of a payment, and why it makes none. Nothing if it is not in progress. */
export function PaymentProgress({ payment }: { payment: Payment }) {
  const queryClient = useQueryClient();
  const isRunning = isInProgress(payment);
  useEffect(() => {
    if (isRunning) followPayment(queryClient, payment.id);
  }, [queryClient, isRunning, payment.id]);
  if (!isRunning) return null;
  const { state, total, leads, skipped, returned, kept, failure, retryAt } = payment;
  const isPaying = state === 'paying';
  const [done, of] = isPaying ? [leads + skipped, total] : [returned + kept, leads];
  const label = isPaying ? t.paying(leads, total) : t.canceling(returned, leads);
  return (
    <Stack gap={4}>
      <Text size="sm">
        {label}. {t.goesOn}
      </Text>
      <Progress value={of === 0 ? 0 : (done / of) * 100} aria-label={label} />
      {failure !== undefined && (
        <Alert color="yellow" variant="light" p="xs" title={t.stalled} role="alert">
          {failure} {t.retry}: <RelativeTime at={retryAt} />
        </Alert>
      )}
    </Stack>
  );
}

/** Shows the payments in progress on pages that change when they end. */
export function PaymentsInProgress() {
  const { data } = useInfiniteQuery(paymentsQuery(undefined));
  const running = data?.pages.flatMap(({ payments }) => payments.filter(isInProgress)) ?? [];
  if (running.length === 0) return null;
  return (
    <RecordList label={t.inProgress}>
      {running.map((payment) => (
        <PaymentRow key={payment.id} payment={payment} facts={[]} />
      ))}
    </RecordList>
  );
}

/** A payment in a list, with a link to its page. */
export function PaymentRow({ payment, facts }: { payment: Payment; facts: ReturnType<typeof paymentFacts> }) {
  return (
    <RecordRow
      title={
        <>
          <AnchorLink to="/payments/$id" params={{ id: payment.id }} fw={600}>
            {t.name(payment.number)}
          </AnchorLink>
          <PaymentState state={payment.state} />
        </>
      }
      facts={facts}
    >
      <PaymentProgress payment={payment} />
    </RecordRow>
  );
}

/** Returns the sentences about the leads of a payment that is not in progress. */
export function resultOf({ state, leads, skipped, returned, kept }: Payment): string[] {
  if (state === 'paying' || state === 'cancelling') return [];
  const skippedText = state === 'paid' ? t.skipped : t.skippedByCancellation;
  return [
    ...(state === 'paid' ? [t.paidResult(leads)] : []),
    ...(skipped > 0 ? [skippedText(skipped)] : []),
    ...(returned > 0 ? [t.returned(returned)] : []),
    ...(kept > 0 ? [t.kept(kept)] : []),
  ];
}
