import { toRecord } from '@leads/core/csv';
import type { Overview } from '@leads/core/overview';
import * as texts from '../../texts/index.ts';
import { statuses } from '../leads/lead-status.ts';
import type { BreakdownRow } from './breakdown.tsx';

const t = texts.overview;

/** The counts of a row, with its label. */
type CsvRow = Pick<BreakdownRow, 'label' | (typeof statuses)[number]>;

/** A table of the overview: its title and rows. */
interface CsvTable {
  readonly title: string;
  readonly rows: readonly CsvRow[];
}

/** Returns the shown counts as CSV: one record for each row of each table. */
export function toCsv({ total, previous, from, to }: Overview, tables: readonly CsvTable[]): string {
  const ranges = [
    { ...total, label: `${from}/${to}` },
    { ...previous, label: `${previous.from}/${previous.to}` },
  ];
  return [
    toRecord([t.csvTable, t.csvRow, t.leads, ...statuses.map((name) => t.statuses[name])]),
    ...[{ title: t.totals, rows: ranges }, ...tables].flatMap(({ title, rows }) =>
      rows.map((row) => {
        const counts = statuses.map((name) => row[name]);
        const sum = counts.reduce((all, each) => all + each, 0);
        return toRecord([title, row.label, ...[sum, ...counts].map(String)]);
      }),
    ),
  ].join('');
}
