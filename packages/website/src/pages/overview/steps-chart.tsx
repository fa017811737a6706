import { BarChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import type { Overview } from '@leads/core/overview';
import * as texts from '../../texts/index.ts';
import { formatNumber } from '../../shell/numbers.ts';
import { statusFills, stepNames } from './figures.ts';
import { formatMoney } from '../../shell/money.ts';
import { statuses } from '../../leads/lead-status.ts';
import { meanings } from '../../shell/amount-columns.ts';
import { type StepPayouts } from './payouts.ts';

const t = texts.overview;

const meaningFills = {
  expected: statusFills.OnHold,
  payable: statusFills.Approved,
  paid: statusFills.Paid,
} as const;

interface StepsChartProps {
  readonly title: string;
  readonly overview: Overview;
  readonly zone: string;
  /** The payouts of each step in one currency. Without them, the chart shows the leads. */
  readonly payouts: StepPayouts | undefined;
}

/** The leads or the payouts of each step, stacked by status. */
export function StepsChart({ title, overview, zone, payouts }: StepsChartProps) {
  const names = stepNames(overview, zone);
  const currency = payouts?.currency;
  const data =
    payouts === undefined
      ? overview.steps.map((step, index) => ({ ...step, name: names[index] }))
      : payouts.steps.map((amounts, index) => ({
          name: names[index],
          expected: Number(amounts.expected),
          payable: Number(amounts.payable),
          paid: Number(amounts.paid),
        }));
  const series =
    payouts === undefined
      ? statuses.map((name) => ({ name, label: t.statuses[name], color: statusFills[name] }))
      : meanings.map((name) => ({ name, label: t.meanings[name], color: meaningFills[name] }));
  return (
    <figure style={{ margin: 0 }} aria-label={t.chartLabel(title)}>
      <BarChart
        h={320}
        type="stacked"
        data={data}
        dataKey="name"
        series={series}
        valueFormatter={
          currency === undefined
            ? formatNumber
            : (value) => formatMoney({ amount: value.toFixed(4), currency })
        }
        xAxisLabel={t.units[overview.unit]}
        yAxisLabel={currency ?? t.leads}
        xAxisProps={{ minTickGap: 16 }}
        yAxisProps={{ allowDecimals: currency !== undefined, width: currency === undefined ? 64 : 96 }}
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
