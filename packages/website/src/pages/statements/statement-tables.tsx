import type { Statement } from '@leads/core/payout';
import { Paper, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatMoney } from '../../shell/money.ts';
import * as texts from '../../texts/index.ts';
import { statements as t } from '../../texts/statements.ts';
import { statuses } from '../leads/lead-status.ts';
import { formatNumber } from '../overview/figures.ts';

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
        <Scrolled label={title} heads={[t.currency]} figures={meanings.map((each) => t.meanings[each])}>
          {currencies.map((currency) => (
            <Table.Tr key={currency}>
              <Table.Th scope="row" fw={400}>
                {currency}
              </Table.Th>
              {meanings.map((status) => (
                <Figure key={status} isMain>
                  {amountOf(status, currency)}
                </Figure>
              ))}
            </Table.Tr>
          ))}
        </Scrolled>
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
    <Scrolled label={label} heads={[t.campaign, t.status, t.currency]} figures={[t.leads, t.amount]}>
      {sorted.map(({ campaignId, campaignCode, status, currency, leads, amount }) => (
        <Table.Tr key={`${campaignId} ${status} ${currency ?? ''}`}>
          <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
            {campaignCode}
          </Table.Th>
          <Table.Td>{texts.overview.statuses[status]}</Table.Td>
          <Table.Td>{currency ?? t.noPayout}</Table.Td>
          <Figure>{formatNumber(leads)}</Figure>
          <Figure>
            {amount === undefined || currency === undefined ? t.noAmount : formatMoney({ amount, currency })}
          </Figure>
        </Table.Tr>
      ))}
    </Scrolled>
  );
}

function Figure({ isMain = false, children }: { isMain?: boolean; children: ReactNode }) {
  return (
    <Table.Td
      ta="right"
      fw={isMain ? 600 : 400}
      style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}
    >
      {children}
    </Table.Td>
  );
}

/** A table that scrolls on narrow screens. */
function Scrolled({
  label,
  heads,
  figures,
  children,
}: {
  label: string;
  /** The names of the columns with texts. */
  heads: readonly string[];
  /** The names of the columns with numbers, which follow. */
  figures: readonly string[];
  children: ReactNode;
}) {
  return (
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
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
