import type { PayoutSum } from '@leads/core/overview';
import { overview as t } from '../texts/overview.ts';

/** The meanings of payouts: of leads on hold, of approved leads and of paid leads. */
export const meanings = ['expected', 'payable', 'paid'] as const;
export type PayoutMeaning = (typeof meanings)[number];

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
