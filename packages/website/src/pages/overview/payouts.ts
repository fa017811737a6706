import type { OverviewPayouts, PayoutSum } from '@leads/core/overview';
import * as texts from '../../texts/index.ts';

const t = texts.overview;

/** The meanings of payouts: of leads on hold, of approved leads and of paid leads. */
export const meanings = ['expected', 'payable', 'paid'] as const;
export type PayoutMeaning = (typeof meanings)[number];

/** The amounts of each step in one currency. */
export interface StepPayouts {
  readonly currency: string;
  readonly steps: readonly Readonly<Record<PayoutMeaning, string>>[];
}

/** A column of amounts. */
export interface AmountColumn {
  readonly key: `${PayoutMeaning} ${string}`;
  readonly meaning: PayoutMeaning;
  readonly currency: string;
  readonly label: string;
}

/** Returns the columns of the amounts of some currencies: one for each meaning. */
export function amountColumns(currencies: readonly string[]): AmountColumn[] {
  return currencies.flatMap((currency) =>
    meanings.map((meaning) => ({
      key: `${meaning} ${currency}` as const,
      meaning,
      currency,
      label: t.amountIn(t.meanings[meaning], currency),
    })),
  );
}

/** Returns the amount of a column as decimal text: 0 if the payouts have none in its currency. */
export function amountOf(
  payouts: readonly PayoutSum[],
  { currency, meaning }: Pick<AmountColumn, 'currency' | 'meaning'>,
): string {
  return payouts.find((each) => each.currency === currency)?.[meaning] ?? '0';
}

/** Returns the payouts of each step in one currency. */
export function stepPayouts(steps: readonly (readonly PayoutSum[])[], currency: string): StepPayouts {
  const ofStep = (payouts: readonly PayoutSum[]) =>
    payouts.find((each) => each.currency === currency) ?? { expected: '0', payable: '0', paid: '0' };
  return { currency, steps: steps.map(ofStep) };
}

/** Returns the currencies of a range and of the compared range, in their order. */
export function currenciesOf({ total, previous }: Pick<OverviewPayouts, 'total' | 'previous'>): string[] {
  return [...new Set([...total, ...previous].map(({ currency }) => currency))].toSorted();
}
