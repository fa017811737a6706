import { Box, Button, Group, Loader, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { Countries, Overview, PayoutsByValue, PayoutSum } from '@leads/core/overview';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { failingEndpointsQuery } from '../../api/endpoints.ts';
import { firstStepsQuery, hiddenKeyOf, isOpen } from '../../api/first-steps.ts';
import {
  attentionQuery,
  countriesQuery,
  type OverviewData,
  type OverviewRange,
  overviewPublishersQuery,
  overviewQuery,
  subIdPayoutsQuery,
} from '../../api/overview.ts';
import { download } from '../../shell/download.ts';
import { IconDownload } from '../../shell/icons.tsx';
import { inert } from '../../shell/inert.ts';
import { ButtonLink } from '../../shell/links.tsx';
import { PendingPage, QueryState } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AttentionList } from './attention-list.tsx';
import { Breakdown, type BreakdownRow } from '../../shell/breakdown.tsx';
import { formatDays, formatEnd, formatHour, stepNames } from './figures.ts';
import { toCsv } from './overview-csv.ts';
import { currenciesOf } from './payouts.ts';
import { daysOf, type RangeSearch, readRangeSearch } from '../../shell/range-search.ts';
import { RangePicker } from '../../shell/range-picker.tsx';
import { Steps } from './steps.tsx';
import { Payouts, Totals } from './totals.tsx';
import { useHasBeen } from '../../shell/use-has-been.ts';
import { useTitle } from '../../shell/use-title.ts';
import { lazyPart } from '../../shell/lazy-part.tsx';

const t = texts.overview;

// Most users have done these steps, and load no script for them.
const FirstSteps = lazyPart(async () => (await import('./first-steps.tsx')).FirstSteps);

const route = getRouteApi('/console/overview');

export function OverviewPage() {
  const search = readRangeSearch(route.useSearch());
  const navigate = route.useNavigate();
  const days = daysOf(search);
  const query = useQuery(overviewQuery(days));
  const { data, error, isPlaceholderData } = query;
  const { isAboveKnown, hasFirstSteps } = useAbove();
  useTitle(t.title);
  const show = (changed: RangeSearch) =>
    void navigate({ search: changed, replace: true, resetScroll: false });

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
          <QueryState query={query} />
          {data !== undefined && (
            <Box aria-busy={isPlaceholderData}>
              <Figures overview={data} days={days} isCurrent={!isPlaceholderData} />
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
  const hasFirstSteps = useHasBeen(!isHidden && steps.data !== undefined && isOpen(steps.data));
  const isAboveKnown = useHasBeen(
    [attention, failing, steps].every(({ isLoading, failureCount }) => !isLoading || failureCount > 0),
  );
  return { isAboveKnown, hasFirstSteps };
}

const dayMs = 86_400_000;
const lengthOf = ({ from, to }: { from: string; to: string }) =>
  Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1;

/** What the tables show beside the overview. */
interface BreakdownData {
  readonly countries: { readonly rows: Countries | undefined; readonly note: string | undefined };
  /** The currencies of the range. */
  readonly currencies: readonly string[];
  readonly payouts: Readonly<
    Record<'campaigns' | 'publishers' | 's1', { rows: PayoutsByValue | undefined; note?: string | undefined }>
  >;
}

/** The tables of an overview, with links to the leads of each row. */
function breakdownsOf(
  { from, to, campaigns, publishers, landingPages, s1, s1Others, hours }: Overview,
  { countries, currencies, payouts }: BreakdownData,
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
  const withPayouts = (
    rows: readonly BreakdownRow[],
    { rows: known }: { rows: PayoutsByValue | undefined },
  ) => {
    const byValue = new Map<string, readonly PayoutSum[]>(
      known?.map(({ value, payouts: sums }) => [value, sums]),
    );
    return rows.map((row) => Object.assign(row, { payouts: known && (byValue.get(row.key) ?? []) }));
  };
  const notesOf = (...notes: readonly (string | undefined)[]) =>
    notes.some((note) => note !== undefined)
      ? notes.filter((note) => note !== undefined).join(' ')
      : undefined;
  // No filter selects an hour of several days, or the hours of a day whose clocks change.
  const isOneDay = Date.parse(to) - Date.parse(from) === dayMs;
  return [
    {
      title: t.campaigns,
      column: t.campaign,
      rows: withPayouts(rowsOf(campaigns, 'campaignCode'), payouts.campaigns),
      currencies,
    },
    // A publisher sees its own leads only.
    ...(publishers.length > 0
      ? [
          {
            title: t.publishers,
            column: t.publisher,
            rows: withPayouts(rowsOf(publishers, 'user'), payouts.publishers),
            note: payouts.publishers.note,
            currencies,
          },
        ]
      : []),
    {
      title: t.s1,
      column: t.subId,
      rows: withPayouts(rowsOf(s1, 's1'), payouts.s1),
      note: notesOf(s1Others > 0 ? t.s1Others(s1Others) : undefined, payouts.s1.note),
      currencies,
    },
    { title: t.landingPages, column: t.landingPage, rows: rowsOf(landingPages, 'lpName') },
    {
      title: t.countries,
      column: t.country,
      rows: countries.rows && rowsOf(countries.rows, 'country'),
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

/** Names the days that an overview is compared with, and their number if it differs. */
function describeComparison(
  { from, previous }: Overview,
  { compareFrom, compareTo, ...days }: OverviewRange,
): string {
  const count = lengthOf(days);
  const momentOf = (at: string) => formatEnd(at, count, days.zone);
  const end = momentOf(previous.to);
  if (compareFrom === undefined || compareTo === undefined) {
    if (previous.to >= from) return t.comparedWith(t.before(count));
    return t.comparedWith(count === 1 ? t.until(t.before(1), end) : t.span(momentOf(previous.from), end));
  }
  const compared = lengthOf({ from: compareFrom, to: compareTo });
  const isWhole = formatEnd(previous.to, 1, days.zone) === '00:00';
  const name = formatDays(compareFrom, compareTo);
  const sentences = [
    t.comparedWith(isWhole ? name : t.until(name, end)),
    ...(compared === count ? [] : [t.otherLength(compared, count)]),
  ];
  return sentences.join(' ');
}

interface FiguresProps {
  readonly overview: OverviewData;
  readonly days: OverviewRange;
  /** Whether the overview is that of the days, and not the one before. */
  readonly isCurrent: boolean;
}

function Figures({ overview, days, isCurrent }: FiguresProps) {
  const { total } = overview;
  const payouts = overview.payouts instanceof Error ? undefined : overview.payouts;
  const currencies = payouts === undefined ? [] : currenciesOf(payouts);
  const isPayoutsFirst = useSuspenseQuery(meQuery).data.workspace?.role === 'publisher';
  const countries = useQuery(countriesQuery(days));
  const hasPayouts = isCurrent && currencies.length > 0;
  const users = overview.publishers.map(({ value }) => value);
  const ofPublishers = useQuery({
    ...overviewPublishersQuery(days, users),
    enabled: hasPayouts && users.length > 0,
  });
  const ofSubIds = useQuery({
    ...subIdPayoutsQuery(days),
    enabled: hasPayouts && overview.s1.length > 0,
  });
  const sums = [
    <Totals key="totals" overview={overview} />,
    payouts === undefined ? (
      <Text key="payouts" size="sm" role="alert">
        {t.payoutsFailed((overview.payouts as Error).message)}
      </Text>
    ) : (
      <Payouts key="payouts" payouts={payouts} />
    ),
  ];
  const totals = [
    <Text key="comparison" size="sm" c="dimmed">
      {describeComparison(overview, days)}
    </Text>,
    ...(isPayoutsFirst ? sums.toReversed() : sums),
  ];
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
  const noteOf = (query: { isLoading: boolean; error: Error | null }, failed: (reason: string) => string) =>
    query.isLoading ? texts.common.loading : query.error === null ? undefined : failed(query.error.message);
  const breakdowns = breakdownsOf(overview, {
    countries: { rows: countries.data, note: noteOf(countries, t.countriesFailed) },
    currencies,
    payouts: {
      campaigns: { rows: payouts?.campaigns },
      publishers: { rows: ofPublishers.data, note: noteOf(ofPublishers, t.payoutsFailed) },
      s1: { rows: ofSubIds.data, note: noteOf(ofSubIds, t.payoutsFailed) },
    },
  });
  const parts = [countries, ofPublishers, ofSubIds];
  const isCsvReady = isCurrent && !parts.some(({ isLoading }) => isLoading);
  const isCsvPartial =
    payouts === undefined || parts.some(({ data, error }) => data === undefined && error !== null);
  const names = stepNames(overview, days.zone);
  const steps = overview.steps.map((step, index) =>
    Object.assign({ label: names[index] ?? '', payouts: payouts?.steps?.[index] }, step),
  );
  const downloadCsv = () =>
    download(
      new Blob(
        [
          toCsv(overview, payouts, currencies, [
            { title: t.byTime[overview.unit], rows: steps },
            ...breakdowns,
          ]),
        ],
        {
          type: 'text/csv',
        },
      ),
      `overview-${days.from}-${days.to}.csv`,
    );
  return (
    <Stack>
      {totals}
      <Group justify="flex-end">
        {isCsvReady && isCsvPartial && (
          <Text size="sm" c="dimmed">
            {t.csvPartial}
          </Text>
        )}
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={16} aria-hidden />}
          {...inert(!isCsvReady)}
          onClick={() => isCsvReady && downloadCsv()}
        >
          {t.downloadCsv}
        </Button>
      </Group>
      <Steps overview={overview} payouts={payouts} zone={days.zone} isPayoutsFirst={isPayoutsFirst} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {breakdowns.map((breakdown) => (
          <Breakdown key={breakdown.title} {...breakdown} of={total.total} isPayoutsFirst={isPayoutsFirst} />
        ))}
      </SimpleGrid>
    </Stack>
  );
}
