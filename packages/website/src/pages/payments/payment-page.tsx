import type { Payment } from '@leads/core/payout';
import { Alert, Button, Group, List, Stack, Table, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ApiError } from '../../api/api-error.ts';
import { paymentFile, paymentLeadsQuery, paymentQuery } from '../../api/payments.ts';
import { download } from '../../shell/download.ts';
import { IconDownload } from '../../shell/icons.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { formatMoney } from '../../shell/money.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { exactTime } from '../../shell/time.ts';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import { useMay } from '../../shell/use-may.ts';
import { payments as t } from '../../texts/payments.ts';
import { LeadsLink } from '../../leads/leads-link.tsx';
import { paymentFacts, PaymentProgress, PaymentState, resultOf, usePeople } from './payment-parts.tsx';

const CancelPaymentDialog = lazyDialog(
  async () => (await import('./cancel-payment-dialog.tsx')).CancelPaymentDialog,
);

/** One payment: its progress, its result and its leads. */
export function PaymentPage() {
  const { id } = useParams({ from: '/console/payments/$id' });
  const query = useQuery(paymentQuery(id));
  const { data, error } = query;
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <>
      <AnchorLink to="/payments" size="sm">
        {t.back}
      </AnchorLink>
      <PageHeading title={data === undefined ? t.title : t.name(data.number)}>
        {data !== undefined && <DownloadButton payment={data} />}
      </PageHeading>
      {isMissing ? <Alert variant="light">{t.notFound}</Alert> : <QueryState query={query} />}
      {data !== undefined && (
        <Stack maw={1100} gap="lg">
          <Summary payment={data} />
          <PaidLeads payment={data} />
        </Stack>
      )}
    </>
  );
}

function DownloadButton({ payment: { id, number } }: { payment: Payment }) {
  const file = useMutation({
    mutationFn: () => paymentFile(id),
    gcTime: 0,
    onSuccess: (content) => download(content, `payment-${number}.csv`),
  });
  return (
    <>
      {file.isError && <ErrorNotice error={file.error} />}
      <Button
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        loading={file.isPending}
        onClick={() => file.mutate()}
      >
        {t.download}
      </Button>
    </>
  );
}

function Summary({ payment }: { payment: Payment }) {
  const { from, to } = payment;
  const people = usePeople();
  const [cancelling, { open, close }] = useDisclosure(false);
  const result = resultOf(payment);
  const canCancel = useMay('cancelPayments') && (payment.state === 'paying' || payment.state === 'paid');
  return (
    <RecordList label={t.name(payment.number)}>
      <RecordRow
        title={<PaymentState state={payment.state} />}
        facts={[...paymentFacts(payment, people), [t.period, t.periodOf(exactTime(from), exactTime(to))]]}
        actions={
          canCancel && (
            <Button size="xs" variant="default" onClick={open}>
              {t.cancel}
            </Button>
          )
        }
      >
        <PaymentProgress payment={payment} />
        {/* A status must be in the page before its text changes, so that screen readers announce it. */}
        <div role="status">
          {result.length > 0 && (
            <List size="sm">
              {result.map((sentence) => (
                <List.Item key={sentence}>{sentence}</List.Item>
              ))}
            </List>
          )}
        </div>
        <LeadsLink filters={{ payment: payment.id }}>{t.listed}</LeadsLink>
      </RecordRow>
      {cancelling && <CancelPaymentDialog payment={payment} onClose={close} />}
    </RecordList>
  );
}

function PaidLeads({ payment }: { payment: Payment }) {
  const { currency } = payment;
  const query = useInfiniteQuery(paymentLeadsQuery(payment));
  const leads = query.data?.pages.flatMap((page) => page.leads);
  return (
    <Stack component="section" gap="sm" aria-label={t.leads}>
      <Title order={2} size="h4">
        {t.leads}
      </Title>
      <QueryState query={query} />
      {leads !== undefined && (
        <Table.ScrollContainer
          minWidth={300}
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': t.leads } }}
        >
          <Table verticalSpacing={6} horizontalSpacing={6} fz="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t.leadId}</Table.Th>
                <Table.Th scope="col">{t.state}</Table.Th>
                <Table.Th scope="col" ta="right">
                  {t.amount}
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {leads.map(({ id, amount, state }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    <AnchorLink to="/leads" search={{ lead: id }} size="sm">
                      {id}
                    </AnchorLink>
                  </Table.Td>
                  <Table.Td>{t.leadStates[state]}</Table.Td>
                  <Table.Td ta="right" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
                    {formatMoney({ amount, currency })}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {query.hasNextPage && (
        <Group>
          <NextPageButton query={query} label={t.loadMore} />
        </Group>
      )}
    </Stack>
  );
}
