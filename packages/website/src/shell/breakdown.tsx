import { Paper, Table, Text, Title } from '@mantine/core';
import type { Overview, PayoutSum } from '@leads/core/overview';
import { formatMoney } from './money.ts';
import { SortableHeader, useSortedRows } from './sortable-table.tsx';
import * as texts from '../texts/index.ts';
import { formatNumber, formatRate } from './numbers.ts';
import { LeadsLink } from '../leads/leads-link.tsx';
import { type AmountColumn, amountColumns, amountOf } from './amount-columns.ts';

const t = texts.overview;

/** A value of a dimension with its counts. */
export type BreakdownRow = Omit<Overview['landingPages'][number], 'value'> & {
  readonly key: string;
  readonly label: string;
  /** The filters of the lead list that select the leads of the row. Absent if no filters select exactly these. */
  readonly filters?: Readonly<Record<string, string>> | undefined;
  /** Absent while they are unknown. */
  readonly payouts?: readonly PayoutSum[] | undefined;
};

type Count = 'total' | 'approveRate' | 'share' | 'Approved' | 'Paid' | 'Trashed';
type Column = 'label' | Count | AmountColumn['key'];

// The table scrolls on narrow screens. The first figures are visible without scrolling.
const counts: readonly (readonly [Count, string])[] = [
  ['total', t.leads],
  ['approveRate', t.approveRate],
  ['share', t.share],
  ['Approved', t.statuses.Approved],
  ['Paid', t.statuses.Paid],
  ['Trashed', t.statuses.Trashed],
];

interface BreakdownProps {
  readonly title: string;
  /** The name of the rows' dimension. */
  readonly column: string;
  /** Absent while they are unknown. */
  readonly rows: readonly BreakdownRow[] | undefined;
  /** The total that the shares refer to. */
  readonly of: number;
  readonly note?: string | undefined;
  /** Whether the rows are sorted by their labels at first, instead of by their leads. */
  readonly isByLabel?: boolean;
  /** The currencies of the columns of amounts. */
  readonly currencies?: readonly string[] | undefined;
  /** Whether the amounts are before the counts. */
  readonly isPayoutsFirst?: boolean;
}

/** The values with the most leads, one row each. Column headers sort the rows. */
export function Breakdown({
  title,
  column,
  rows,
  of,
  note,
  isByLabel = false,
  currencies,
  isPayoutsFirst = false,
}: BreakdownProps) {
  const amounts = amountColumns(currencies ?? []);
  const valueOf = (row: BreakdownRow, by: Column) => {
    const amount = amounts.find(({ key }) => key === by);
    if (amount === undefined)
      return row[by === 'share' ? 'total' : (by as Exclude<Count, 'share'> | 'label')];
    return row.payouts && Number(amountOf(row.payouts, amount));
  };
  const { sorted, sort, sortBy } = useSortedRows<BreakdownRow, Column>(
    rows ?? [],
    valueOf,
    isByLabel ? { by: 'label', isDescending: false } : { by: 'total', isDescending: true },
  );
  const countOf = (row: BreakdownRow, key: Count) => {
    if (key === 'share') return formatRate(of === 0 ? null : row.total / of);
    return key === 'approveRate' ? formatRate(row.approveRate) : formatNumber(row[key]);
  };
  const ofCounts = counts.map(([key, label]) => ({
    key,
    label,
    cellOf: (row: BreakdownRow) => countOf(row, key),
  }));
  const ofAmounts = amounts.map((amount) => ({
    key: amount.key,
    label: amount.label,
    cellOf: ({ payouts }: BreakdownRow) =>
      payouts === undefined
        ? t.noRate
        : formatMoney({ amount: amountOf(payouts, amount), currency: amount.currency }),
  }));
  const figures: readonly { key: Column; label: string; cellOf: (row: BreakdownRow) => string }[] =
    isPayoutsFirst ? [...ofAmounts, ...ofCounts] : [...ofCounts, ...ofAmounts];
  return (
    <Paper
      component="section"
      withBorder
      p="md"
      miw={0}
      aria-label={title}
      {...(amounts.length > 0 && { style: { gridColumn: '1 / -1' } })}
    >
      <Title order={2} size="h4">
        {title}
      </Title>
      {note !== undefined && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
      {rows?.length === 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {t.none}
        </Text>
      )}
      {sorted.length > 0 && (
        <Table.ScrollContainer
          minWidth={560 + amounts.length * 110}
          mah={460}
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': title } }}
        >
          <Table verticalSpacing={6} horizontalSpacing={6} fz="sm">
            <Table.Thead>
              <Table.Tr>
                <SortableHeader label={column} by="label" isText sort={sort} onSort={sortBy} />
                {figures.map(({ key, label }) => (
                  <SortableHeader key={key} label={label} by={key} sort={sort} onSort={sortBy} />
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sorted.map((row) => (
                <Table.Tr key={row.key}>
                  <Table.Th scope="row" fw={400}>
                    {row.filters === undefined ? (
                      row.label
                    ) : (
                      <LeadsLink filters={row.filters}>{row.label}</LeadsLink>
                    )}
                  </Table.Th>
                  {figures.map(({ key, cellOf }) => (
                    <Table.Td
                      key={key}
                      ta="right"
                      style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}
                    >
                      {cellOf(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Paper>
  );
}
