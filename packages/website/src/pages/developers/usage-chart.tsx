import { BarChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import type { KeyUsage } from '@leads/core/request-log';
import { formatTime, useNow } from '../../shell/time.ts';
import { developers as t } from '../../texts/developers.ts';

const dayMs = 86_400_000;
const shownDays = 30;
const colors = { success: 'green.6', clientErrors: 'orange.6', serverErrors: 'red.6' } as const;
const series = ['success', 'clientErrors', 'serverErrors'] as const;
const number = new Intl.NumberFormat('en');

/** The requests of the last 30 days, stacked by the class of their status. */
export function UsageChart({ days }: { days: KeyUsage['days'] }) {
  const byDay = new Map(days.map((day) => [day.day, day]));
  const now = useNow();
  const data = Array.from({ length: shownDays }, (_, index) => {
    const day = new Date(now - (shownDays - 1 - index) * dayMs).toISOString().slice(0, 10);
    const { success = 0, clientErrors = 0, serverErrors = 0 } = byDay.get(day) ?? {};
    return { day: formatTime(day, 'day', 'UTC'), success, clientErrors, serverErrors };
  });
  return (
    <figure style={{ margin: 0 }} aria-label={t.usageChart}>
      <BarChart
        h={240}
        type="stacked"
        data={data}
        dataKey="day"
        series={series.map((name) => ({ name, label: t.counts[name], color: colors[name] }))}
        valueFormatter={(value) => number.format(value)}
        yAxisLabel={t.requests}
        xAxisProps={{ minTickGap: 16 }}
        yAxisProps={{ allowDecimals: false, width: 64 }}
        withLegend
        legendProps={{ verticalAlign: 'top', itemSorter: null }}
        maxBarWidth={32}
        barProps={{ isAnimationActive: false }}
        // Not focusable: the table has the same content.
        barChartProps={{ accessibilityLayer: false }}
      />
    </figure>
  );
}
