import { BarChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import type { Overview } from '@leads/core/overview';
import * as texts from '../../texts/index.ts';
import { formatNumber, statusFills, stepNames } from './figures.ts';
import { statuses } from '../leads/lead-status.ts';

const t = texts.overview;

/** The leads of each step, stacked by status. */
export function StepsChart({ overview, zone }: { overview: Overview; zone: string }) {
  const names = stepNames(overview, zone);
  return (
    <figure style={{ margin: 0 }} aria-label={t.chartLabel(t.byTime[overview.unit])}>
      <BarChart
        h={320}
        type="stacked"
        data={overview.steps.map((step, index) => ({ ...step, name: names[index] }))}
        dataKey="name"
        series={statuses.map((name) => ({ name, label: t.statuses[name], color: statusFills[name] }))}
        valueFormatter={formatNumber}
        xAxisLabel={t.units[overview.unit]}
        yAxisLabel={t.leads}
        xAxisProps={{ minTickGap: 16 }}
        yAxisProps={{ allowDecimals: false, width: 64 }}
        withLegend
        // In the order of the statuses. By default, the labels are sorted.
        legendProps={{ verticalAlign: 'top', itemSorter: null }}
        maxBarWidth={48}
        barProps={{ isAnimationActive: false, stroke: 'var(--mantine-color-body)', strokeWidth: 0.5 }}
        // Not focusable: the table has the same content.
        barChartProps={{ accessibilityLayer: false }}
      />
    </figure>
  );
}
