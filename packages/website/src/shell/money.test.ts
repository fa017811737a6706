import { expect, test } from 'vitest';
import { formatMoney } from './money.ts';

test.for([
  ['12.5', 'EUR', '€12.50'],
  ['0.0001', 'EUR', '€0.0001'],
  ['0', 'JPY', '¥0'],
  ['1.2345', 'KWD', 'KWD\u00a01.2345'],
  // A number of JavaScript would be 9,007,199,254,740,992 here.
  ['9007199254740993.0001', 'USD', '$9,007,199,254,740,993.0001'],
] as const)('formats %s %s without a change of the amount', ([amount, currency, text]) => {
  expect(formatMoney({ amount, currency })).toBe(text);
});
