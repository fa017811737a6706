import type { Statement } from '@leads/core/payout';
import { Box, Button, Group, Loader, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { campaignsQuery } from '../../api/campaigns.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { membersQuery } from '../../api/members.ts';
import { statementFile, statementQuery } from '../../api/payouts.ts';
import { campaignOptions } from '../../shell/campaign-option.ts';
import { download } from '../../shell/download.ts';
import { EmptyState } from '../../shell/empty-state.tsx';
import { IconDownload } from '../../shell/icons.tsx';
import { inert } from '../../shell/inert.ts';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { memberOptions } from '../../shell/member-options.ts';
import { formatMoney } from '../../shell/money.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { useMay } from '../../shell/use-may.ts';
import { common } from '../../texts/common.ts';
import { payments } from '../../texts/payments.ts';
import { statements as t } from '../../texts/statements.ts';
import { RangePicker } from '../../shell/range-picker.tsx';
import { PaymentsInProgress } from '../payments/payment-parts.tsx';
import type { Payable, PayableDays } from './pay-dialog.tsx';
import { StatementItems, StatementTotals } from './statement-tables.tsx';
import {
  defaultRange,
  payableDaysOf,
  readStatementSearch,
  type StatementSearch,
} from './statement-search.ts';

const PayDialog = lazyDialog(async () => (await import('./pay-dialog.tsx')).PayDialog);

const route = getRouteApi('/console/statements');

/** The number of publishers that are shown at once. */
const pageSize = 20;

/** What leads are worth to their publishers. A publisher sees its own statement. */
export function StatementsPage() {
  const given = readStatementSearch(route.useSearch());
  const search: StatementSearch = { ...defaultRange, ...given };
  const navigate = route.useNavigate();
  const isManaging = useMay('readAllLeads');
  const canPay = useMay('createPayments');
  const days = payableDaysOf(given);
  const { from, to, zone } = days;
  const { user, campaignCode } = search;
  const query = { ...days, ...(isManaging && { user }) };
  const statement = useQuery(statementQuery(query));
  const { data, error, isPlaceholderData } = statement;
  // The dialog keeps the days of the statement that the user has seen.
  const [paying, setPaying] = useState<{ payable: Payable; days: PayableDays }>();
  const file = useMutation({
    mutationFn: statementFile,
    gcTime: 0,
    // The days of the request: the page may show other ones by now.
    onSuccess: (content, asked) => download(content, `statement-${asked.from}-${asked.to}.csv`),
  });
  const show = (changed: StatementSearch) =>
    void navigate({ search: changed, replace: true, resetScroll: false });
  const change = (name: 'user' | 'campaignCode', value: string | null) => {
    const { [name]: _, ...others } = given;
    show({ ...others, ...(value !== null && { [name]: value }) });
  };
  return (
    <Stack gap="md">
      <div>
        <PageHeading title={t.title}>
          {isPlaceholderData && <Loader size="sm" aria-label={common.loading} />}
          <Button
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            loading={file.isPending}
            onClick={() => file.mutate(query)}
          >
            {t.download}
          </Button>
        </PageHeading>
        <Text size="sm" c="dimmed">
          {t.lead}
        </Text>
      </div>
      {file.isError && <ErrorNotice error={file.error} />}
      <Group align="flex-start" gap="sm">
        <RangePicker
          search={search}
          days={{ from, to, zone }}
          faults={fieldErrorsOf(error)}
          isComparing={false}
          onChange={(changed) =>
            show({
              ...changed,
              ...(user !== undefined && { user }),
              ...(campaignCode !== undefined && { campaignCode }),
            })
          }
        />
        {isManaging && <PublisherSelect user={user} onChange={(value) => change('user', value)} />}
        <CampaignSelect code={campaignCode} onChange={(value) => change('campaignCode', value)} />
      </Group>
      <PaymentsInProgress />
      <QueryState query={statement} />
      {data !== undefined && (
        <Box aria-busy={isPlaceholderData}>
          <Publishers
            key={`${from} ${to} ${zone} ${user ?? ''} ${campaignCode ?? ''}`}
            statement={data}
            isCurrent={!isPlaceholderData}
            onPay={canPay ? (payable) => setPaying({ payable, days }) : undefined}
          />
        </Box>
      )}
      {paying !== undefined && <PayDialog {...paying} onClose={() => setPaying(undefined)} />}
    </Stack>
  );
}

function PublisherSelect({
  user,
  onChange,
}: {
  user: string | undefined;
  onChange: (userId: string | null) => void;
}) {
  const { data: members = [] } = useQuery(membersQuery);
  return (
    <Select
      label={t.publisher}
      placeholder={t.allPublishers}
      data={memberOptions(members, user)}
      value={user ?? null}
      onChange={onChange}
      clearable
      searchable
      limit={100}
      w={{ base: '100%', xs: 260 }}
    />
  );
}

function CampaignSelect({
  code,
  onChange,
}: {
  code: string | undefined;
  onChange: (code: string | null) => void;
}) {
  const { data: campaigns = [] } = useQuery(campaignsQuery);
  return (
    <Select
      label={t.campaign}
      placeholder={t.allCampaigns}
      data={campaignOptions(campaigns, code)}
      value={code ?? null}
      onChange={onChange}
      clearable
      searchable
      limit={100}
      w={{ base: '100%', xs: 220 }}
    />
  );
}

function Publishers({
  statement: { publishers, totals },
  isCurrent,
  onPay,
}: {
  statement: Statement;
  /** Whether the statement is that of the days and the campaign, and not the one before. */
  isCurrent: boolean;
  /** Absent for users who may not pay. */
  onPay: ((payable: Payable) => void) | undefined;
}) {
  const [count, setCount] = useState(pageSize);
  if (publishers.length === 0) return <EmptyState text={t.empty} />;
  const hidden = publishers.length - count;
  return (
    <Stack>
      <StatementTotals totals={totals} />
      {publishers
        .slice(0, count)
        .map(({ userId, name = common.formerMember(userId), items, totals: own }) => (
          <Paper key={userId} component="section" withBorder p="md" aria-label={name} miw={0}>
            <Group justify="space-between" gap="xs" mb="xs">
              <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Title>
              {onPay !== undefined && (
                <PayButtons
                  totals={own}
                  publisher={name}
                  isInert={!isCurrent}
                  onPay={(sum) => onPay({ userId, publisher: name, ...sum })}
                />
              )}
            </Group>
            <StatementItems label={name} items={items} />
          </Paper>
        ))}
      {hidden > 0 && (
        <Button variant="default" onClick={() => setCount(count + pageSize)}>
          {t.more(hidden)}
        </Button>
      )}
    </Stack>
  );
}

/** One button for each currency with approved leads. */
function PayButtons({
  totals,
  publisher,
  isInert,
  onPay,
}: {
  totals: Statement['totals'];
  publisher: string;
  /** Whether the buttons do nothing. */
  isInert: boolean;
  onPay: (sum: Omit<Payable, 'userId' | 'publisher'>) => void;
}) {
  return (
    <Group gap="xs">
      {totals.map(({ status, leads, amount, currency }) => {
        if (status !== 'Approved' || amount === undefined || currency === undefined) return null;
        const money = formatMoney({ amount, currency });
        return (
          <Button
            key={currency}
            size="xs"
            variant="default"
            aria-label={payments.payOf(money, publisher)}
            {...inert(isInert)}
            onClick={() => !isInert && onPay({ leads, amount, currency })}
          >
            {payments.pay(money)}
          </Button>
        );
      })}
    </Group>
  );
}
