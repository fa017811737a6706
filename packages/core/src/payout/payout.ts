import { LeadsError } from '../errors.ts';
import { amountPattern, maxAmountLength, type Payout } from './payout.schema.ts';

/*
 * The currencies of the runtime's Unicode data (CLDR), because the runtime keeps them current. A package would be another
 * dependency with the same list. Only new payouts are checked, so a stored currency that a later list lacks stays valid.
 */
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/**
 * Returns a payout with its amount in canonical form: without zeros at its end.
 *
 * @param pointer the JSON Pointer to the payout in the body.
 * @throws LeadsError `invalid_input` for an unknown currency.
 */
export function checkedPayout({ amount, currency }: Payout, pointer: string): Payout {
  if (!currencies.has(currency)) {
    const reason = 'must be a currency code of ISO 4217, such as EUR';
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: `${pointer}/currency`, reason }],
    });
  }
  return { amount: canonical(amount), currency };
}

/** Removes zeros at the end of an amount. */
function canonical(amount: string): string {
  return amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;
}

const scale = 4;

/** Adds two amounts of any length exactly. */
export function addAmounts(a: string, b: string): string {
  const sum = String(unscaled(a) + unscaled(b)).padStart(scale + 1, '0');
  return canonical(`${sum.slice(0, -scale)}.${sum.slice(-scale)}`);
}

function unscaled(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
}

/** Returns a payout as text for people, such as `12.5 EUR`, or `none`. */
export function formatPayout(payout: Payout | undefined): string {
  return payout === undefined ? 'none' : `${payout.amount} ${payout.currency}`;
}

/** Reads a payout of {@link formatPayout}. Returns undefined if the text is not an amount and a known currency. */
export function parsePayoutText(text: string): Payout | undefined {
  const [amount = '', currency = '', ...others] = text.split(' ');
  const isAmount = amount.length <= maxAmountLength && new RegExp(amountPattern).test(amount);
  if (!isAmount || !currencies.has(currency) || others.length > 0) return undefined;
  return { amount: canonical(amount), currency };
}
