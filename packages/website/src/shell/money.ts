/** An amount as decimal text, and its currency (ISO 4217). */
export interface Money {
  readonly amount: string;
  readonly currency: string;
}

/** The most digits after the point that the service stores. */
const maxFractionDigits = 4;

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(currency: string): Intl.NumberFormat {
  const known = formats.get(currency);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    maximumFractionDigits: maxFractionDigits,
  });
  formats.set(currency, format);
  return format;
}

/**
 * Returns an amount as people write it, such as "€12.50". The format reads the decimal text itself (ECMA-402, 16.5.16),
 * because a number would round long amounts.
 */
export function formatMoney({ amount, currency }: Money): string {
  return formatOf(currency).format(amount as Intl.StringNumericLiteral);
}
