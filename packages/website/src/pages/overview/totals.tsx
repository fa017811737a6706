import { Paper, SimpleGrid, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import type { Overview, OverviewPayouts } from '@leads/core/overview';
import type { ReactNode } from 'react';
import { formatMoney } from '../../shell/money.ts';
import * as texts from '../../texts/index.ts';
import { Delta, type Meaning } from './delta.tsx';
import { formatNumber, formatRate } from '../../shell/numbers.ts';
import { formatChange, formatPoints } from './figures.ts';
import { statuses } from '../../leads/lead-status.ts';
import { LeadsLink } from '../../leads/leads-link.tsx';
import { amountColumns, amountOf, type PayoutMeaning } from '../../shell/amount-columns.ts';
import { currenciesOf } from './payouts.ts';

const t = texts.overview;

const meanings: Readonly<Record<(typeof statuses)[number], Meaning>> = {
  OnHold: 'neutral',
  Approved: 'more-is-better',
  Paid: 'more-is-better',
  Trashed: 'more-is-worse',
};

/** The number of leads, compared with that of other days. */
export function Totals({ overview }: { overview: Overview }) {
  const { total, previous, from, to } = overview;
  const against = (now: number, then: number, meaning: Meaning) =>
    then === 0 ? (
      t.noneBefore
    ) : (
      <Delta change={now - then} text={formatChange(now / then - 1)} meaning={meaning} />
    );
  const rateAgainst = (now: number | null, then: number | null) =>
    now === null || then === null ? undefined : (
      <Delta change={now - then} text={t.points(formatPoints(now - then))} meaning="more-is-better" />
    );
  const span = { createdFrom: from, createdTo: to };
  return (
    <section aria-label={t.totals}>
      <VisuallyHidden>
        <h2>{t.totals}</h2>
      </VisuallyHidden>
      <SimpleGrid cols={{ base: 2, md: 4, xl: 7 }} spacing="sm">
        <Figure
          name={<LeadsLink filters={span}>{t.leads}</LeadsLink>}
          value={formatNumber(total.total)}
          note={against(total.total, previous.total, 'more-is-better')}
        />
        {statuses.map((status) => (
          <Figure
            key={status}
            name={<LeadsLink filters={{ status, ...span }}>{t.statuses[status]}</LeadsLink>}
            value={formatNumber(total[status])}
            note={against(total[status], previous[status], meanings[status])}
          />
        ))}
        <Figure
          name={t.approveRate}
          value={formatRate(total.approveRate)}
          note={rateAgainst(total.approveRate, previous.approveRate)}
        />
        <Figure
          name={t.approveRateWithoutTrash}
          value={formatRate(total.approveRateWithoutTrash)}
          note={rateAgainst(total.approveRateWithoutTrash, previous.approveRateWithoutTrash)}
        />
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt="xs">
        {t.rateHelp}
      </Text>
    </section>
  );
}

/** What the leads are worth by currency, compared with the leads of other days. */
export function Payouts({ payouts }: { payouts: OverviewPayouts }) {
  const { total, previous } = payouts;
  const currencies = currenciesOf(payouts);
  if (currencies.length === 0) return null;
  const against = (now: string, then: string, meaning: PayoutMeaning) =>
    then === '0' ? (
      t.noneBefore
    ) : (
      <>
        <Delta
          change={Number(now) - Number(then)}
          text={formatChange(Number(now) / Number(then) - 1)}
          meaning={meaning === 'expected' ? 'neutral' : 'more-is-better'}
        />
      </>
    );
  return (
    <Stack component="section" gap="sm" aria-label={t.payouts}>
      <Title order={2} size="h4">
        {t.payouts}
      </Title>
      {currencies.map((currency) => (
        <SimpleGrid key={currency} cols={{ base: 1, sm: 3 }} spacing="sm">
          {amountColumns([currency]).map(({ meaning, label }) => {
            const now = amountOf(total, { currency, meaning });
            return (
              <Figure
                key={meaning}
                name={label}
                value={formatMoney({ amount: now, currency })}
                note={against(now, amountOf(previous, { currency, meaning }), meaning)}
              />
            );
          })}
        </SimpleGrid>
      ))}
    </Stack>
  );
}

function Figure({ name, value, note }: { name: ReactNode; value: string; note?: ReactNode }) {
  return (
    <Paper withBorder p="sm" component="dl" m={0}>
      <Text component="dt" size="sm">
        {name}
      </Text>
      <Text
        component="dd"
        m={0}
        fz={26}
        fw={600}
        lh={1.3}
        style={{ fontVariantNumeric: 'tabular-nums', overflowWrap: 'anywhere' }}
      >
        {value}
      </Text>
      {note !== undefined && (
        <Text component="dd" m={0} size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Paper>
  );
}
