import { Group, Paper, ScrollArea, SegmentedControl, Skeleton, Table, Title } from '@mantine/core';
import type { Overview } from '@leads/core/overview';
import { lazy, Suspense, useEffect, useState } from 'react';
import * as texts from '../../texts/index.ts';
import { formatNumber, stepNames } from './figures.ts';
import { statuses } from '../leads/lead-status.ts';

const t = texts.overview;

// The chart library is as large as the rest of the website.
const StepsChart = lazy(async () => ({ default: (await import('./steps-chart.tsx')).StepsChart }));

/** The leads by the time they were created, as a chart or as a table. */
export function Steps({ overview, zone }: { overview: Overview; zone: string }) {
  const [view, setView] = useState<'chart' | 'table'>('chart');
  // Loaded in a task of its own, so that the chart's scripts do not delay the figures.
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true));
    return () => clearTimeout(timer);
  }, []);
  const title = t.byTime[overview.unit];
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
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
      {view === 'chart' ? (
        <Suspense fallback={<Skeleton h={320} />}>
          {isShown ? <StepsChart overview={overview} zone={zone} /> : <Skeleton h={320} />}
        </Suspense>
      ) : (
        <StepsTable overview={overview} zone={zone} title={title} />
      )}
    </Paper>
  );
}

function StepsTable({ overview, zone, title }: { overview: Overview; zone: string; title: string }) {
  const names = stepNames(overview, zone);
  return (
    <ScrollArea.Autosize mah={420} viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': title }}>
      <Table stickyHeader verticalSpacing={4} horizontalSpacing="sm" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.units[overview.unit]}</Table.Th>
            {statuses.map((status) => (
              <Table.Th key={status} scope="col" ta="right">
                {t.statuses[status]}
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
              {statuses.map((status) => (
                <Table.Td key={status} ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
                  {formatNumber(step[status])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
