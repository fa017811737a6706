import type { OverviewPayouts, PayoutSum } from '@leads/core/overview';
import type { PayoutMeaning } from '../../shell/amount-columns.ts';

/** The amounts of each step in one currency. */
export interface StepPayouts {
  readonly currency: string;
  readonly steps: readonly Readonly<Record<PayoutMeaning, string>>[];
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
