import { Box, Button, Group, Loader, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { Countries, Overview } from '@leads/core/overview';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { failingEndpointsQuery } from '../../api/endpoints.ts';
import { firstStepsQuery, hiddenKeyOf, isOpen } from '../../api/first-steps.ts';
import { attentionQuery, countriesQuery, type OverviewRange, overviewQuery } from '../../api/overview.ts';
import { download } from '../../shell/download.ts';
import { IconDownload } from '../../shell/icons.tsx';
import { ButtonLink } from '../../shell/links.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AttentionList } from './attention-list.tsx';
import { Breakdown, type BreakdownRow } from './breakdown.tsx';
import { formatDays, formatEnd, formatHour, formatNumber, stepNames } from './figures.ts';
import { toCsv } from './overview-csv.ts';
import { daysOf, type OverviewSearch } from './overview-search.ts';
import { RangePicker } from './range-picker.tsx';
import { Steps } from './steps.tsx';
import { Totals } from './totals.tsx';
import { useTitle } from '../../shell/use-title.ts';

const t = texts.overview;

// Most users have done these steps, and load no script for them.
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }));

// It is below the other figures, and appears last: it moves none of them.
const PayoutTotals = lazy(async () => ({ default: (await import('./payout-totals.tsx')).PayoutTotals }));

const route = getRouteApi('/console/overview');

export function OverviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const days = daysOf(search);
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery(overviewQuery(days));
  const { isAboveKnown, hasFirstSteps } = useAbove();
  useTitle(t.title);
  const show = (changed: OverviewSearch) => void navigate({ search: changed, replace: true });

  return (
    <Stack gap="md">
      <Group gap="sm">
        <Title order={1} size="h2">
          {t.title}
        </Title>
        {isPlaceholderData && <Loader size="sm" aria-label={texts.common.loading} />}
      </Group>
      {!isAboveKnown ? (
        <PendingPage />
      ) : (
        <Suspense fallback={<PendingPage />}>
          {hasFirstSteps && <FirstSteps />}
          <AttentionList />
          <RangePicker search={search} days={days} faults={fieldErrorsOf(error)} onChange={show} />
          {error !== null ? (
            <ErrorNotice error={error} onRetry={() => void refetch()} />
          ) : isPending ? (
            <PendingPage />
          ) : (
            <Box aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
              <Figures overview={data} days={days} />
            </Box>
          )}
        </Suspense>
      )}
    </Stack>
  );
}

/**
 * Whether the requests for what is above the figures have ended. The figures wait for them, because they would move
 * down. They do not wait for the repetition of a failed request.
 */
function useAbove(): { readonly isAboveKnown: boolean; readonly hasFirstSteps: boolean } {
  const { data: me } = useSuspenseQuery(meQuery);
  const attention = useQuery(attentionQuery);
  const failing = useQuery(failingEndpointsQuery);
  const [isHidden] = useState(() => localStorage.getItem(hiddenKeyOf(me)) !== null);
  const steps = useQuery({ ...firstStepsQuery, enabled: !isHidden });
  // They stay after the last step, because a dialog can still be open.
  const [hasFirstSteps, setFirstSteps] = useState(false);
  if (!hasFirstSteps && !isHidden && steps.data !== undefined && isOpen(steps.data)) setFirstSteps(true);
  const isAboveKnown = [attention, failing, steps].every(
    ({ isLoading, failureCount }) => !isLoading || failureCount > 0,
  );
  return { isAboveKnown, hasFirstSteps };
}

const dayMs = 86_400_000;
const lengthOf = ({ from, to }: { from: string; to: string }) =>
  Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1;

/** The tables of an overview, with links to the leads of each row. */
function breakdownsOf(
  { from, to, campaigns, publishers, landingPages, s1, s1Others, hours }: Overview,
  countries: { readonly rows: Countries; readonly note: string | undefined },
) {
  const span = { createdFrom: from, createdTo: to };
  const rowsOf = (
    values: readonly (Overview['landingPages'][number] & { name?: string })[],
    filter: 'campaignCode' | 'user' | 'lpName' | 's1' | 'country',
  ) =>
    values.map(
      ({ value, name, ...counts }): BreakdownRow =>
        Object.assign(counts, {
          key: value,
          label: name ?? value,
          filters: { [filter]: value, ...span },
        }),
    );
  // No filter selects an hour of several days, or the hours of a day whose clocks change.
  const isOneDay = Date.parse(to) - Date.parse(from) === dayMs;
  return [
    { title: t.campaigns, column: t.campaign, rows: rowsOf(campaigns, 'campaignCode') },
    // A publisher sees its own leads only.
    ...(publishers.length > 0
      ? [{ title: t.publishers, column: t.publisher, rows: rowsOf(publishers, 'user') }]
      : []),
    { title: t.landingPages, column: t.landingPage, rows: rowsOf(landingPages, 'lpName') },
    {
      title: t.s1,
      column: t.subId,
      rows: rowsOf(s1, 's1'),
      note: s1Others > 0 ? t.s1Others(formatNumber(s1Others)) : undefined,
    },
    {
      title: t.countries,
      column: t.country,
      rows: rowsOf(countries.rows, 'country'),
      note: countries.note,
    },
    {
      title: t.hours,
      column: t.hour,
      isByLabel: true,
      rows: hours.map(({ hour, ...counts }): BreakdownRow => {
        const start = Date.parse(from) + hour * 3_600_000;
        const filters = {
          createdFrom: new Date(start).toISOString(),
          createdTo: new Date(start + 3_600_000).toISOString(),
        };
        return Object.assign(counts, {
          key: String(hour),
          label: formatHour(hour),
          filters: isOneDay ? filters : undefined,
        });
      }),
    },
  ];
}

/** Names the days that an overview is compared with. */
function nameCompared(
  { from, previous }: Overview,
  { compareFrom, compareTo, ...days }: OverviewRange,
): string {
  const count = lengthOf(days);
  const end = formatEnd(previous.to, count, days.zone);
  if (compareFrom === undefined || compareTo === undefined) {
    return previous.to < from ? t.beforeUntil(t.before(count), end) : t.before(count);
  }
  const isWhole = formatEnd(previous.to, 1, days.zone) === '00:00';
  const compared = formatDays(compareFrom, compareTo);
  return isWhole ? compared : t.beforeUntil(compared, end);
}

function Figures({ overview, days }: { overview: Overview; days: OverviewRange }) {
  const { total } = overview;
  const countries = useQuery(countriesQuery(days));
  const totals = <Totals overview={overview} before={nameCompared(overview, days)} />;
  if (total.total === 0) {
    return (
      <Stack>
        {totals}
        <Paper withBorder p="xl" ta="center">
          <Stack align="center" gap="xs">
            <Text fw={600}>{t.empty}</Text>
            <Text size="sm" c="dimmed">
              {t.emptyLead}
            </Text>
            <ButtonLink to="/developers" search={{ tab: 'keys' }} variant="default">
              {t.sendLead}
            </ButtonLink>
          </Stack>
        </Paper>
      </Stack>
    );
  }
  const breakdowns = breakdownsOf(overview, {
    rows: countries.data ?? [],
    note: countries.isPending
      ? texts.common.loading
      : countries.isError
        ? t.countriesFailed(countries.error.message)
        : undefined,
  });
  const names = stepNames(overview, days.zone);
  const steps = overview.steps.map((step, index) => Object.assign({ label: names[index] ?? '' }, step));
  const downloadCsv = () =>
    download(
      new Blob([toCsv(overview, [{ title: t.byTime[overview.unit], rows: steps }, ...breakdowns])], {
        type: 'text/csv',
      }),
      `overview-${days.from}-${days.to}.csv`,
    );
  return (
    <Stack>
      {totals}
      <Group justify="flex-end">
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={downloadCsv}
        >
          {t.downloadCsv}
        </Button>
      </Group>
      <Steps overview={overview} zone={days.zone} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {breakdowns.map((breakdown) => (
          <Breakdown key={breakdown.title} {...breakdown} of={total.total} />
        ))}
        <Suspense fallback={null}>
          <PayoutTotals days={days} />
        </Suspense>
      </SimpleGrid>
    </Stack>
  );
}
