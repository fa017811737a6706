export const payouts = {
  amount: 'Amount',
  amountExample: '12.50',
  currency: 'Currency',
  noCurrency: 'No such currency',
} as const;
