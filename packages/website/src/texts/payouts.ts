export const payouts = {
  payout: 'Payout',
  amount: 'Amount',
  amountExample: '12.50',
  currency: 'Currency',
  none: 'None',
  /** What the amount of a lead is in each status. A trashed lead has none. */
  meanings: { OnHold: 'expected', Approved: 'payable', Paid: 'paid', Trashed: '' },
  withMeaning: (amount: string, meaning: string) => `${amount} ${meaning}`,
  rules: {
    lead: 'set for this lead',
    publisher: 'payout of the publisher',
    campaign: 'payout of the campaign',
  },
  ofRule: (amount: string, rule: string) => `${amount} (${rule})`,
  rule: 'Comes from',
} as const;
