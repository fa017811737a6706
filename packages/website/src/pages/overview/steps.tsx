import {
  Group,
  Paper,
  ScrollArea,
  SegmentedControl,
  Select,
  Skeleton,
  Table,
  Text,
  Title,
} from '@mantine/core';
import type { Overview, OverviewPayouts } from '@leads/core/overview';
import { type ComponentProps, useEffect, useState } from 'react';
import { formatMoney } from '../../shell/money.ts';
import * as texts from '../../texts/index.ts';
import { formatNumber } from '../../shell/numbers.ts';
import { stepNames } from './figures.ts';
import { statuses } from '../../leads/lead-status.ts';
import { meanings } from '../../shell/amount-columns.ts';
import { stepPayouts } from './payouts.ts';
import { lazySection } from '../../shell/lazy-part.tsx';

const t = texts.overview;

const pendingChart = <Skeleton h={320} />;

// The chart library is as large as the rest of the website.
const StepsChart = lazySection(async () => (await import('./steps-chart.tsx')).StepsChart, pendingChart);

interface StepsProps {
  readonly overview: Overview;
  readonly payouts: OverviewPayouts | undefined;
  readonly zone: string;
  /** Whether the payouts are shown at first, instead of the leads. */
  readonly isPayoutsFirst: boolean;
}

/** The leads or the payouts by the time when the leads were created, as a chart or as a table. */
export function Steps({ overview, payouts, zone, isPayoutsFirst }: StepsProps) {
  const [view, setView] = useState<'chart' | 'table'>('chart');
  const currencies = payouts?.total.map(({ currency }) => currency) ?? [];
  const [chosen, setChosen] = useState<string>();
  const measures = payouts?.steps === undefined ? [] : currencies;
  const measure = chosen ?? (isPayoutsFirst ? measures[0] : undefined);
  const shown =
    measure !== undefined && measures.includes(measure) && payouts?.steps !== undefined
      ? stepPayouts(payouts.steps, measure)
      : undefined;
  // Loaded in a task of its own, so that the chart's scripts do not delay the figures.
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true));
    return () => clearTimeout(timer);
  }, []);
  const title = (shown === undefined ? t.byTime : t.payoutsByTime)[overview.unit];
  const common = { title, overview, zone, payouts: shown };
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Group gap="xs">
          {measures.length > 0 && (
            <Select
              size="xs"
              w={160}
              aria-label={t.measure}
              allowDeselect={false}
              data={[
                { value: leads, label: t.leads },
                ...measures.map((currency) => ({ value: currency, label: t.payoutsIn(currency) })),
              ]}
              value={shown?.currency ?? leads}
              onChange={(value) => setChosen(value ?? leads)}
            />
          )}
          <SegmentedControl
            size="xs"
            aria-label={t.view}
            value={view}
            onChange={(value) => setView(value)}
            data={[
              { value: 'chart', label: t.chart },
              { value: 'table', label: t.table },
            ]}
          />
        </Group>
      </Group>
      {payouts !== undefined && payouts.steps === undefined && currencies.length > 0 && (
        <Text size="sm" c="dimmed" mb="sm">
          {t.noPayoutsByTime}
        </Text>
      )}
      {view === 'chart' ? isShown ? <StepsChart {...common} /> : pendingChart : <StepsTable {...common} />}
    </Paper>
  );
}

/** The choice of leads among currencies, whose codes are in upper case. */
const leads = 'leads';

function StepsTable({ overview, payouts, zone, title }: ComponentProps<typeof StepsChart>) {
  const names = stepNames(overview, zone);
  const columns =
    payouts === undefined
      ? statuses.map((status) => ({
          label: t.statuses[status],
          cells: overview.steps.map((step) => formatNumber(step[status])),
        }))
      : meanings.map((meaning) => ({
          label: t.meanings[meaning],
          cells: payouts.steps.map((step) =>
            formatMoney({ amount: step[meaning], currency: payouts.currency }),
          ),
        }));
  return (
    <ScrollArea.Autosize mah={420} viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': title }}>
      <Table stickyHeader verticalSpacing={4} horizontalSpacing="sm" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.units[overview.unit]}</Table.Th>
            {columns.map(({ label }) => (
              <Table.Th key={label} scope="col" ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {overview.steps.map((step, index) => (
            <Table.Tr key={step.start}>
              <Table.Th scope="row" fw={400}>
                {names[index]}
              </Table.Th>
              {columns.map(({ label, cells }) => (
                <Table.Td key={label} ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
                  {cells[index]}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
