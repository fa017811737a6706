import { toRecord } from '@leads/core/csv';
import type { Overview, OverviewPayouts } from '@leads/core/overview';
import * as texts from '../../texts/index.ts';
import { statuses } from '../../leads/lead-status.ts';
import type { BreakdownRow } from '../../shell/breakdown.tsx';
import { amountColumns, amountOf } from '../../shell/amount-columns.ts';

const t = texts.overview;

/** The counts of a row, with its label, and its payouts if its table has them. */
type CsvRow = Pick<BreakdownRow, 'label' | 'payouts' | (typeof statuses)[number]>;

/** A table of the overview: its title and rows. */
interface CsvTable {
  readonly title: string;
  /** Absent if their request failed. */
  readonly rows: readonly CsvRow[] | undefined;
}

/** Returns the shown counts and payouts as CSV: one record for each row of each table. Amounts are decimal text. */
export function toCsv(
  { total, previous, from, to }: Overview,
  payouts: OverviewPayouts | undefined,
  currencies: readonly string[],
  tables: readonly CsvTable[],
): string {
  const ranges: CsvRow[] = [
    { ...total, label: `${from}/${to}`, payouts: payouts?.total },
    { ...previous, label: `${previous.from}/${previous.to}`, payouts: payouts?.previous },
  ];
  const amounts = amountColumns(currencies);
  return [
    toRecord([
      t.csvTable,
      t.csvRow,
      t.leads,
      ...statuses.map((name) => t.statuses[name]),
      ...amounts.map(({ label }) => label),
    ]),
    ...[{ title: t.totals, rows: ranges }, ...tables].flatMap(({ title, rows = [] }) =>
      rows.map((row) => {
        const counts = statuses.map((name) => row[name]);
        const sum = counts.reduce((all, each) => all + each, 0);
        const ofAmounts = amounts.map((amount) =>
          row.payouts === undefined ? '' : amountOf(row.payouts, amount),
        );
        return toRecord([title, row.label, ...[sum, ...counts].map(String), ...ofAmounts]);
      }),
    ),
  ].join('');
}
