import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';

/** More characters would be more than 12 digits and a point. */
export const maxAmountLength = 13;
export const amountPattern = '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,4})?$';

/** A decimal text without sign and exponent: at most 12 digits, at most 4 of them after the point. */
const Amount = Type.String({
  maxLength: maxAmountLength,
  pattern: amountPattern,
  'x-reason':
    'must be a decimal number such as "12.5", with at most 12 digits, at most 4 of them after the point',
  description:
    'The amount as decimal text: at most 12 digits, at most 4 of them after the point. Answers omit zeros at its end.',
  examples: ['12.5'],
});

const fields = {
  amount: Amount,
  currency: Type.String({
    pattern: '^[A-Z]{3}$',
    'x-reason': 'must be a currency code of ISO 4217, such as EUR',
    description: 'The currency (ISO 4217). Amounts are never converted.',
    examples: ['EUR'],
  }),
};

/** An amount of money for one lead. */
export const Payout = Type.Object(fields, {
  additionalProperties: false,
  description: 'The amount for one lead.',
});
export type Payout = Static<typeof Payout>;

/** The rules that give a lead its payout, the most special first. */
const payoutRules = ['lead', 'publisher', 'campaign'] as const;

/** The payout of a lead. */
export const LeadPayout = Type.Object(
  {
    ...fields,
    rule: Type.Enum([...payoutRules], {
      description:
        'Where the amount comes from: `lead` if a person set it for the lead, else the payout of the publisher or of the campaign.',
      examples: ['campaign'],
    }),
  },
  { additionalProperties: false },
);
export type LeadPayout = Static<typeof LeadPayout>;

/** The payout of one publisher in a campaign. */
export const PublisherPayout = Type.Object(
  {
    userId: id('Identifier of the user whose leads have this payout.'),
    ...fields,
    updatedAt: dateTime('Time of the last change.'),
  },
  { additionalProperties: false, description: 'The payout of a publisher in a campaign.' },
);
export type PublisherPayout = Static<typeof PublisherPayout>;

/** The answer to a change of a publisher's payout. */
export const PublisherPayoutAnswer = Type.Object(
  { success: Type.Literal(true), payout: PublisherPayout },
  { additionalProperties: false, description: 'The payout of the publisher.' },
);
