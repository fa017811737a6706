import { Paper, Table, Text, Title } from '@mantine/core';
import type { Overview } from '@leads/core/overview';
import { texts } from '../../texts/index.ts';
import { formatNumber, formatRate } from './figures.ts';
import { LeadsLink } from './leads-link.tsx';

const t = texts.overview;

interface BreakdownProps {
  readonly title: string;
  /** The name of the rows' dimension. */
  readonly column: string;
  readonly rows: readonly (Overview['landingPages'][number] & { readonly name?: string })[];
  /** The total that the shares refer to. */
  readonly of: number;
  readonly note?: string;
  /** The filters of the lead list for a row, including the range. */
  readonly filter: 'campaignCode' | 'lpName' | 's1';
  readonly span: Readonly<Record<string, string>>;
}

/** The values with the most leads, one row each. */
export function Breakdown({ title, column, rows, of, note, filter, span }: BreakdownProps) {
  // The table scrolls on narrow screens. The first figures are visible without scrolling.
  const figures = [t.leads, t.approveRate, t.share, t.statuses.Approved, t.statuses.Paid, t.statuses.Trashed];
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
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': title } }}
        >
          <Table verticalSpacing={6} horizontalSpacing={6} fz="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{column}</Table.Th>
                {figures.map((name) => (
                  <Table.Th key={name} scope="col" ta="right">
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Table.Tr key={row.value}>
                  <Table.Th scope="row" fw={400}>
                    <LeadsLink filters={{ [filter]: row.value, ...span }}>{row.name ?? row.value}</LeadsLink>
                  </Table.Th>
                  {[
                    formatNumber(row.total),
                    formatRate(row.approveRate),
                    formatRate(of === 0 ? null : row.total / of),
                    formatNumber(row.Approved),
                    formatNumber(row.Paid),
                    formatNumber(row.Trashed),
                  ].map((text, index) => (
                    <Table.Td key={figures[index]} ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
                      {text}
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
