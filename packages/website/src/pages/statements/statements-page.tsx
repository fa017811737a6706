import type { Statement } from '@leads/core/payout';
import { Box, Button, Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { membersQuery } from '../../api/members.ts';
import { statementFile, statementQuery } from '../../api/payouts.ts';
import { download } from '../../shell/download.ts';
import { EmptyState } from '../../shell/empty-state.tsx';
import { IconDownload } from '../../shell/icons.tsx';
import { memberOption } from '../../shell/member-options.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { statements as t } from '../../texts/statements.ts';
import { daysOf } from '../overview/overview-search.ts';
import { RangePicker } from '../overview/range-picker.tsx';
import { StatementItems, StatementTotals } from './statement-tables.tsx';
import type { StatementSearch } from './statement-search.ts';

const route = getRouteApi('/console/statements');

/** The number of publishers that are shown at once. */
const pageSize = 20;

/** What leads are worth to their publishers. A publisher sees its own statement. */
export function StatementsPage() {
  // Payouts are usually settled by month.
  const search: StatementSearch = { range: 'this-month', ...route.useSearch() };
  const navigate = route.useNavigate();
  const { workspace } = useSuspenseQuery(meQuery).data;
  const isManaging = workspace !== undefined && workspace.role !== 'publisher';
  const { from, to, zone } = daysOf(search);
  const query = { from, to, zone, ...(isManaging && { user: search.user }) };
  const { data, error, isPlaceholderData, refetch } = useQuery(statementQuery(query));
  const file = useMutation({
    mutationFn: () => statementFile(query),
    gcTime: 0,
    onSuccess: (content) => download(content, `statement-${from}-${to}.csv`),
  });
  const show = (changed: StatementSearch) => void navigate({ search: changed, replace: true });
  const ofUser = search.user !== undefined && { user: search.user };
  return (
    <Stack gap="md">
      <div>
        <PageHeading title={t.title}>
          <Button
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            loading={file.isPending}
            onClick={() => file.mutate()}
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
          onChange={(changed) => show({ ...changed, ...ofUser })}
        />
        {isManaging && (
          <PublisherSelect
            user={search.user}
            onChange={({ user }) => {
              const { user: _, ...others } = search;
              show({ ...others, ...(user !== undefined && { user }) });
            }}
          />
        )}
      </Group>
      {error !== null ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <PendingPage />
      ) : (
        <Box aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
          <Publishers key={`${from} ${to} ${zone} ${search.user ?? ''}`} statement={data} />
        </Box>
      )}
    </Stack>
  );
}

function PublisherSelect({
  user,
  onChange,
}: {
  user: string | undefined;
  onChange: (chosen: { user: string | undefined }) => void;
}) {
  const { data: members = [] } = useQuery(membersQuery);
  const options = members.map(memberOption);
  if (user !== undefined && !members.some(({ userId }) => userId === user)) {
    options.push({ value: user, label: t.leftPublisher(user) });
  }
  return (
    <Select
      label={t.publisher}
      placeholder={t.allPublishers}
      data={options}
      value={user ?? null}
      onChange={(value) => onChange({ user: value ?? undefined })}
      clearable
      searchable
      limit={100}
      w={{ base: '100%', xs: 260 }}
    />
  );
}

function Publishers({ statement: { publishers, totals } }: { statement: Statement }) {
  const [count, setCount] = useState(pageSize);
  if (publishers.length === 0) return <EmptyState text={t.empty} />;
  const hidden = publishers.length - count;
  return (
    <Stack>
      <StatementTotals totals={totals} />
      {publishers.slice(0, count).map(({ userId, name = t.leftPublisher(userId), items }) => (
        <Paper key={userId} component="section" withBorder p="md" aria-label={name} miw={0}>
          <Title order={2} size="h4" mb="xs" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Title>
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
