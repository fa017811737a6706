import type { Statement } from '@leads/core/payout';
import { Paper, Table, Text, Title } from '@mantine/core';
import { useRef } from 'react';
import { formatMoney } from '../../shell/money.ts';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { useIsNarrower } from '../../shell/use-is-narrower.ts';
import * as texts from '../../texts/index.ts';
import { statements as t } from '../../texts/statements.ts';
import { statuses } from '../../leads/lead-status.ts';
import { formatNumber } from '../../shell/numbers.ts';

type Items = Statement['publishers'][number]['items'];

const meanings = ['OnHold', 'Approved', 'Paid'] as const;

/** The amounts of each currency: expected, payable and paid. */
export function StatementTotals({
  totals,
  title = t.totals,
}: {
  totals: Statement['totals'];
  title?: string;
}) {
  const currencies = [...new Set(totals.flatMap(({ currency }) => currency ?? []))].toSorted();
  const amountOf = (status: (typeof meanings)[number], currency: string) => {
    const amount = totals.find((each) => each.status === status && each.currency === currency)?.amount;
    return amount === undefined ? t.noAmount : formatMoney({ amount, currency });
  };
  return (
    <Paper component="section" withBorder p="md" aria-label={title} miw={0}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {currencies.length === 0 ? (
        <Text size="sm">{t.noAmounts}</Text>
      ) : (
        <Figures
          label={title}
          heads={[t.currency]}
          figures={meanings.map((each) => t.meanings[each])}
          weight={600}
          rows={currencies.map((currency) => ({
            key: currency,
            texts: [currency],
            values: meanings.map((status) => amountOf(status, currency)),
          }))}
        />
      )}
    </Paper>
  );
}

/** The leads and amounts of one publisher by campaign, status and currency. */
export function StatementItems({ label, items }: { label: string; items: Items }) {
  const sorted = items.toSorted(
    (one, other) =>
      one.campaignCode.localeCompare(other.campaignCode, 'en') ||
      statuses.indexOf(one.status) - statuses.indexOf(other.status) ||
      (one.currency ?? '').localeCompare(other.currency ?? '', 'en'),
  );
  return (
    <Figures
      label={label}
      heads={[t.campaign, t.status, t.currency]}
      figures={[t.leads, t.amount]}
      weight={400}
      rows={sorted.map(({ campaignId, campaignCode, status, currency, leads, amount }) => ({
        key: `${campaignId} ${status} ${currency ?? ''}`,
        texts: [campaignCode, texts.overview.statuses[status], currency ?? t.noPayout],
        values: [
          formatNumber(leads),
          amount === undefined || currency === undefined ? t.noAmount : formatMoney({ amount, currency }),
        ],
      }))}
    />
  );
}

/** Where the page is narrower, in pixels, each row is a card. */
const tableWidth = 560;

/** A table of texts and figures. Where it has no room, each row is a card, so that no figure is cut off. */
function Figures({
  label,
  heads,
  figures,
  weight,
  rows,
}: {
  label: string;
  /** The names of the columns with texts. */
  heads: readonly string[];
  /** The names of the columns with figures, which follow. */
  figures: readonly string[];
  /** The font weight of the figures. */
  weight: 400 | 600;
  rows: readonly {
    readonly key: string;
    readonly texts: readonly string[];
    readonly values: readonly string[];
  }[];
}) {
  const frame = useRef<HTMLDivElement>(null);
  const hasCards = useIsNarrower(frame, tableWidth);
  return (
    <div ref={frame}>
      {hasCards ? (
        <RecordList label={label}>
          {rows.map(({ key, texts: [title, ...others], values }) => (
            <RecordRow
              key={key}
              title={
                <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                  {title}
                </Text>
              }
              facts={[
                ...others.map((text, i) => [heads[i + 1] ?? '', text] as const),
                ...values.map((value, i) => [figures[i] ?? '', bold(value)] as const),
              ]}
            />
          ))}
        </RecordList>
      ) : (
        <Table.ScrollContainer
          minWidth={440}
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': label } }}
        >
          <Table verticalSpacing={6} horizontalSpacing={6} fz="sm">
            <Table.Thead>
              <Table.Tr>
                {heads.map((name) => (
                  <Table.Th key={name} scope="col">
                    {name}
                  </Table.Th>
                ))}
                {figures.map((name) => (
                  <Table.Th key={name} scope="col" ta="right">
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ key, texts: [title, ...others], values }) => (
                <Table.Tr key={key}>
                  <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
                    {title}
                  </Table.Th>
                  {others.map((text, i) => (
                    <Table.Td key={heads[i + 1]}>{text}</Table.Td>
                  ))}
                  {values.map((value, i) => (
                    <Table.Td
                      key={figures[i]}
                      ta="right"
                      fw={weight}
                      style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}
                    >
                      {value}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </div>
  );
}

const bold = (text: string) => (
  <Text span size="sm" fw={600}>
    {text}
  </Text>
);
