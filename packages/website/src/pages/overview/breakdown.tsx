import { Paper, Table, Text, Title } from '@mantine/core';
import type { Overview } from '@leads/core/overview';
import { SortableHeader, useSortedRows } from '../../shell/sortable-table.tsx';
import * as texts from '../../texts/index.ts';
import { formatNumber, formatRate } from './figures.ts';
import { LeadsLink } from './leads-link.tsx';

const t = texts.overview;

/** A value of a dimension with its counts. */
export type BreakdownRow = Omit<Overview['landingPages'][number], 'value'> & {
  readonly key: string;
  readonly label: string;
  /** The filters of the lead list that select the leads of the row. Absent if no filters select exactly these. */
  readonly filters?: Readonly<Record<string, string>> | undefined;
};

type Column = 'label' | 'total' | 'approveRate' | 'share' | 'Approved' | 'Paid' | 'Trashed';

// The table scrolls on narrow screens. The first figures are visible without scrolling.
const figures = [
  ['total', t.leads],
  ['approveRate', t.approveRate],
  ['share', t.share],
  ['Approved', t.statuses.Approved],
  ['Paid', t.statuses.Paid],
  ['Trashed', t.statuses.Trashed],
] as const;

const valueOf = (row: BreakdownRow, column: Column) => row[column === 'share' ? 'total' : column];

interface BreakdownProps {
  readonly title: string;
  /** The name of the rows' dimension. */
  readonly column: string;
  readonly rows: readonly BreakdownRow[];
  /** The total that the shares refer to. */
  readonly of: number;
  readonly note?: string | undefined;
  /** Whether the rows are sorted by their labels at first, instead of by their leads. */
  readonly isByLabel?: boolean;
}

/** The values with the most leads, one row each. Column headers sort the rows. */
export function Breakdown({ title, column, rows, of, note, isByLabel = false }: BreakdownProps) {
  const { sorted, sort, sortBy } = useSortedRows<BreakdownRow, Column>(
    rows,
    valueOf,
    isByLabel ? { by: 'label', isDescending: false } : { by: 'total', isDescending: true },
  );
  const cellOf = (row: BreakdownRow, key: (typeof figures)[number][0]) => {
    if (key === 'share') return formatRate(of === 0 ? null : row.total / of);
    return key === 'approveRate' ? formatRate(row.approveRate) : formatNumber(row[key]);
  };
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {note !== undefined && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          {t.none}
        </Text>
      ) : (
        <Table.ScrollContainer
          minWidth={560}
          mah={460}
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': title } }}
        >
          <Table verticalSpacing={6} horizontalSpacing={6} fz="sm">
            <Table.Thead>
              <Table.Tr>
                <SortableHeader label={column} by="label" isText sort={sort} onSort={sortBy} />
                {figures.map(([key, name]) => (
                  <SortableHeader key={key} label={name} by={key} sort={sort} onSort={sortBy} />
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
                  {figures.map(([key]) => (
                    <Table.Td key={key} ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
                      {cellOf(row, key)}
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
