import { Box, Group, Loader, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { Overview } from '@leads/core/overview';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { fieldErrorsOf } from '../../api/client.ts';
import { ButtonLink } from '../../shell/links.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { texts } from '../../texts/index.ts';
import { Breakdown } from './breakdown.tsx';
import { formatNumber } from './figures.ts';
import { overviewQuery } from './overview-query.ts';
import { daysOf, type OverviewSearch } from './overview-search.ts';
import { RangePicker } from './range-picker.tsx';
import { Steps } from './steps.tsx';
import { Totals } from './totals.tsx';
import { useTitle } from '../../shell/use-title.ts';

const t = texts.overview;
const route = getRouteApi('/console/overview');

export function OverviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const days = daysOf(search);
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery(overviewQuery(days));
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
      <RangePicker search={search} days={days} faults={fieldErrorsOf(error)} onChange={show} />
      {error !== null ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <PendingPage />
      ) : (
        <Box aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
          <Figures overview={data} zone={days.zone} days={lengthOf(days)} />
        </Box>
      )}
    </Stack>
  );
}

const lengthOf = ({ from, to }: { from: string; to: string }) =>
  Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;

function Figures({ overview, zone, days }: { overview: Overview; zone: string; days: number }) {
  const { total, campaigns, landingPages, s1, s1Others } = overview;
  const span = { createdFrom: overview.from, createdTo: overview.to };
  if (total.total === 0) {
    return (
      <Stack>
        <Totals overview={overview} days={days} zone={zone} />
        <Paper withBorder p="xl" ta="center">
          <Stack align="center" gap="xs">
            <Text fw={600}>{t.empty}</Text>
            <Text size="sm" c="dimmed">
              {t.emptyLead}
            </Text>
            <ButtonLink to="/profile" variant="default">
              {t.sendLead}
            </ButtonLink>
          </Stack>
        </Paper>
      </Stack>
    );
  }
  return (
    <Stack>
      <Totals overview={overview} days={days} zone={zone} />
      <Steps overview={overview} zone={zone} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Breakdown
          title={t.campaigns}
          column={t.campaign}
          rows={campaigns}
          of={total.total}
          filter="campaignCode"
          span={span}
        />
        <Breakdown
          title={t.landingPages}
          column={t.landingPage}
          rows={landingPages}
          of={total.total}
          filter="lpName"
          span={span}
        />
        <Breakdown
          title={t.s1}
          column={t.subId}
          rows={s1}
          of={total.total}
          {...(s1Others > 0 && { note: t.s1Others(formatNumber(s1Others)) })}
          filter="s1"
          span={span}
        />
      </SimpleGrid>
    </Stack>
  );
}
